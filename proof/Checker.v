(* The levels of a plan, computed inside Coq from its integer tables. Sound.v proves that what comes out bounds the
   mechanism that the tables define. Fractions (n, d) stand for n/d; None means that no finite bound was found. *)
Require Import ZArith List Bool.
Import ListNotations.
Open Scope Z_scope.

(* ---- A plan, as plans.py prints it ---- *)
Definition total := 2 ^ 32.
Definition fraction := (Z * Z)%type.

Inductive table :=
  | Dense (rows : list (list Z))                       (* one row of weights for each level *)
  | Response (levels : nat) (keep other : Z)           (* keep on the true level, other on every other *)
  | Hadamard (levels order : nat) (keep : Z).          (* symbols 2r and 2r + 1: a bit about row r of the matrix *)

(* What a question reads: one level for each coordinate. A coordinate is one feature, or what is made of several. *)
Record coordinate := Coordinate { features : list nat; size : nat }.
Record question := Question { coordinates : list coordinate; columns : list (list Z) }.
(* What is assumed in a menu about a feature: how far what the menu sees of the others may move with it, the odds that
   knowing it could move, if they have a limit, and the laws of it, if known, up to a factor for each row. *)
Record knowledge := Known { correlation_bound : fraction; odds_bound : option fraction; laws : list (list Z) }.
Record menu := Menu { weight : Z; questions : list question; knows : list knowledge }.
(* Guesses about ranges of a number. For a number of levels: its ranges, each as the laws of the level at the numbers
   that are extreme in it, all up to the same factor. *)
Definition spans := list (nat * list (list (list Z))).
(* shares: for each feature, whether several of its values may be coded as one level
   ranges: the spans of those features that guesses are made about by ranges only, else nothing *)
Record plan := Plan { shares : list bool; ranges : list spans; menus : list menu }.

(* ---- Tables as columns: for each symbol, the weights over the levels ---- *)
Definition number l (column : list Z) := nth l column 0.
Fixpoint parity (p : positive) : bool :=
  match p with xH => true | xO r => parity r | xI r => negb (parity r) end.
Definition odd_bits (n : N) := match n with N0 => false | Npos p => parity p end.
Definition columns_of (t : table) : list (list Z) :=
  match t with
  | Dense rows => map (fun y => map (number y) rows) (seq 0 (length (hd [] rows)))
  | Response levels keep other =>
      map (fun y => map (fun l => if Nat.eqb l y then keep else other) (seq 0 levels)) (seq 0 levels)
  | Hadamard levels order keep =>
      flat_map (fun r => map (fun bit => map (fun l =>
          if Bool.eqb (odd_bits (N.land (N.of_nat r) (N.of_nat l))) bit then keep else total / Z.of_nat order - keep)
        (seq 0 levels)) [false; true]) (seq 0 order)
  end.

(* ---- Level vectors, and the weight of a symbol at one ---- *)
Fixpoint tuples {T} (sets : list (list T)) : list (list T) :=
  match sets with [] => [[]] | s :: r => flat_map (fun a => map (cons a) (tuples r)) s end.
Definition levels k := seq 0 (size k).
Definition vectors ks := tuples (map levels ks).
Fixpoint index (ks : list coordinate) (l : list nat) : nat :=
  match ks, l with
  | k :: ks, a :: l => a * fold_right Nat.mul 1%nat (map size ks) + index ks l
  | _, _ => 0
  end%nat.
Definition symbols (qn : question) := seq 0 (length (columns qn)).
Definition cell (qn : question) (l : list nat) (y : nat) : Z :=
  number (index (coordinates qn) l) (nth y (columns qn) []).
Definition cells qn y := map (fun l => cell qn l y) (vectors (coordinates qn)).

Definition most_of (l : list Z) := fold_right Z.max 0 l.
Definition least_of (l : list Z) := match l with [] => 0 | x :: r => fold_right Z.min x r end.

(* Weights are not negative, and those of all symbols sum to 2^32 at every level. *)
Definition proper (qn : question) :=
  forallb (fun l => forallb (fun y => 0 <=? cell qn l y) (symbols qn)
                    && (fold_right Z.add 0 (map (cell qn l) (symbols qn)) =? total)) (vectors (coordinates qn)).

(* ---- Fractions ---- *)
Definition at_most (x y : fraction) := fst x * snd y <=? fst y * snd x.
Definition multiply (x y : fraction) : fraction := (fst x * fst y, snd x * snd y).
(* the largest, at least 1; 0/0 counts for nothing and x/0 as infinite *)
Definition largest (l : list fraction) := fold_right (fun x y => if at_most x y then y else x) (1, 1) l.
(* Whatever was found counts only if it passes the check. *)
Definition checked (found : fraction) (check : fraction -> bool) : option fraction :=
  if (0 <? snd found) && (snd found <=? fst found) && check found then Some found else None.
Definition smaller (x y : option fraction) :=
  match x, y with Some x, Some y => Some (if at_most x y then x else y) | Some x, None => Some x | None, y => y end.

(* ---- The ratio of a question ---- *)
Definition ratio (qn : question) : option fraction :=
  let extremes := map (fun y => (most_of (cells qn y), least_of (cells qn y))) (symbols qn) in
  checked (largest extremes) (fun r => forallb (fun x => at_most x r) extremes).
Definition ratios (qs : list question) : option fraction :=
  fold_right (fun qn r => match ratio qn, r with Some x, Some y => Some (multiply x y) | _, _ => None end)
    (Some (1, 1)) qs.

(* ---- A feature i in a menu ---- *)
Definition concerns i k := existsb (Nat.eqb i) (features k).
Definition own i qn := existsb (concerns i) (coordinates qn).
Definition rest_of i qs := filter (fun qn => negb (own i qn)) qs.
Definition proper_bound (q : fraction) := (0 <=? fst q) && (fst q <=? snd q) && (0 <? snd q).
Definition proper_odds (odds : option fraction) :=
  match odds with None => true | Some k => (0 <? snd k) && (snd k <=? fst k) end.
(* Two laws of the others within q and odds: how much of one part the first has, how much of it the second has, and how
   much both have in common; out of the sum of the first two and the third. *)
Record masses := Masses { most : Z; least : Z; common : Z }.
Definition moved (q : fraction) (odds : option fraction) : masses :=
  match odds with
  | None => Masses (fst q) 0 (snd q - fst q)
  | Some k =>
      if fst k <=? snd k then Masses 0 0 1 else
      let by_q := (fst q * snd k, snd q * (fst k - snd k)) in
      let by_odds := (snd k, fst k + snd k) in
      let x := if at_most by_q by_odds then by_q else by_odds in
      Masses (fst k * fst x) (snd k * fst x) (snd k * snd x - (fst k + snd k) * fst x)
  end.
Definition mass m := most m + least m + common m.
(* Theorems 1 and 8, and section 4.4: the ratio of the questions that concern i, beside the others *)
Definition spread m (rest : fraction) : fraction :=
  (mass m * snd rest + most m * (fst rest - snd rest), mass m * snd rest + least m * (fst rest - snd rest)).
Definition independent i qs (q : fraction) odds : option fraction :=
  match ratios (filter (own i) qs), ratios (rest_of i qs) with
  | Some r, Some rest =>
      if proper_bound q && proper_odds odds then Some (multiply r (spread (moved q odds) rest)) else None
  | _, _ => None
  end.

(* The one coordinate that is feature i itself, in a question about several: its place. *)
Fixpoint place i ks : option nat :=
  match ks with
  | [] => None
  | k :: r => if concerns i k
              then match features k with [_] => if existsb (concerns i) r then None else Some 0%nat | _ => None end
              else option_map S (place i r)
  end.
Definition joint i qs : option (question * nat) :=
  match filter (own i) qs with
  | [qn] => match place i (coordinates qn), coordinates qn with Some p, _ :: _ :: _ => Some (qn, p) | _, _ => None end
  | _ => None
  end.

(* Section 4, the exact certificate. Vectors of the others' levels have 0 in the place of feature i. *)
Definition put p a (l : list nat) := firstn p l ++ a :: skipn (S p) l.
Definition masked i ks := tuples (map (fun k => if concerns i k then [0%nat] else levels k) ks).
Definition own_levels p ks := match nth_error ks p with Some k => levels k | None => [] end.
Definition weights i qn p y a := map (fun l => cell qn (put p a l) y) (masked i (coordinates qn)).

Definition pair_dec (x y : Z * Z) : {x = y} + {x <> y}.
Proof. decide equality; apply Z.eq_dec. Defined.
(* Points are weights at two own values, at one place of the others. Each part of the two laws lies at the place with
   the largest surplus over a ratio D, where the other questions say most, or least if it is negative. *)
Definition three m := [(most m, least m); (least m, most m); (common m, common m)].
Definition surplus (D x point : Z * Z) := fst x * fst point * snd D - snd x * snd point * fst D.
Fixpoint highest (f : Z * Z -> Z) (points : list (Z * Z)) : Z * Z :=
  match points with
  | [] => (0, 0)
  | [x] => x
  | x :: r => let y := highest f r in if f y <=? f x then x else y
  end.
Definition heard (rest : fraction) s := if 0 <? s then fst rest else snd rest.
Definition parts m rest D points :=
  map (fun x => let point := highest (surplus D x) points in
    let h := heard rest (surplus D x point) in (h * (fst x * fst point), h * (snd x * snd point))) (three m).
Definition added (l : list Z) := fold_right Z.add 0 l.
Definition attained m rest D points : fraction :=
  let found := parts m rest D points in (added (map fst found), added (map snd found)).
Definition kept m rest D points :=
  added (map (fun x => let s := surplus D x (highest (surplus D x) points) in heard rest s * s) (three m)) <=? 0.
Fixpoint climb (n : nat) m rest D points : fraction :=
  match n with
  | O => D
  | S n => let found := attained m rest D points in if at_most found D then D else climb n m rest found points
  end.
(* The largest ratio over lists of points: whatever was found counts only if it is kept everywhere. *)
Definition worst m rest (all : list (list (Z * Z))) : option fraction :=
  checked (fold_right (fun points D => climb 64 m rest D points) (1, 1) all)
    (fun D => forallb (kept m rest D) all).
Definition pairs_of (f f' : list Z) := nodup pair_dec (combine f f').
Definition all_points i qn p (shared : bool) : list (list (Z * Z)) :=
  flat_map (fun y =>
    let rows := map (fun a => (a, weights i qn p y a)) (own_levels p (coordinates qn)) in
    flat_map (fun r => flat_map (fun r' =>
      if negb shared && Nat.eqb (fst r) (fst r') then [] else [pairs_of (snd r) (snd r')]) rows) rows)
    (symbols qn).
(* Theorem 6: the most and the least that the numbers of a range say *)
Fixpoint span (n : nat) (sp : spans) : option (list (list (list Z))) :=
  match sp with [] => None | (m, rows) :: r => if Nat.eqb n m then Some rows else span n r end.
Definition law_weight (row column : list Z) := fold_right Z.add 0 (map (fun x => fst x * snd x) (combine row column)).
Definition law_total (row : list Z) := fold_right Z.add 0 row.
Definition row_cell qn p y row l :=
  law_weight row (map (fun a => cell qn (put p a l) y) (own_levels p (coordinates qn))).
Definition above i qn p y (rows : list (list Z)) :=
  map (fun l => most_of (map (fun row => row_cell qn p y row l) rows)) (masked i (coordinates qn)).
Definition below i qn p y (rows : list (list Z)) :=
  map (fun l => least_of (map (fun row => row_cell qn p y row l) rows)) (masked i (coordinates qn)).
Definition range_points i qn p (rows : list (list (list Z))) : list (list (Z * Z)) :=
  flat_map (fun y =>
    let parts := map (fun b => (b, (above i qn p y (nth b rows []), below i qn p y (nth b rows []))))
      (seq 0 (length rows)) in
    flat_map (fun r => flat_map (fun r' =>
      if Nat.eqb (fst r) (fst r') then [] else [pairs_of (fst (snd r)) (snd (snd r'))]) parts) parts)
    (symbols qn).
Definition proper_rows n (rows : list (list (list Z))) (T : Z) :=
  (0 <? T) && forallb (fun part => forallb (fun row =>
    forallb (fun x => 0 <=? x) row && (law_total row =? T) && Nat.eqb (length row) n) part) rows.
Definition range_level i qn p (sp : spans) q odds (rest : option fraction) : option fraction :=
  match rest, nth_error (coordinates qn) p with
  | Some rest, Some k =>
      match span (size k) sp with
      | Some rows =>
          if proper_bound q && proper_odds odds && proper_rows (size k) rows (law_total (hd [] (hd [] rows)))
          then worst (moved q odds) rest (range_points i qn p rows) else None
      | None => None
      end
  | _, _ => None
  end.
Definition joint_level i qn p shared q odds (rest : option fraction) : option fraction :=
  match rest with
  | Some rest =>
      if proper_bound q && proper_odds odds then worst (moved q odds) rest (all_points i qn p shared) else None
  | None => None
  end.

(* Lemma 3: one question about one other feature, whose law given feature i is a mixture of known laws *)
Definition told_level i (qs : list question) (rows : list (list Z)) : option fraction :=
  match qs with
  | [qn] =>
      match coordinates qn with
      | [k] =>
          let told := map (fun y => map (fun row => (law_weight row (cells qn y), law_total row)) rows) (symbols qn) in
          let found := flat_map (fun chances => flat_map (fun x => map (fun x' =>
                         (fst x * snd x', fst x' * snd x)) chances) chances) told in
          if negb (concerns i k) && negb (Nat.eqb (length rows) 0)
             && forallb (fun row => forallb (fun x => 0 <=? x) row && (0 <? law_total row)
                                    && Nat.eqb (length row) (size k)) rows
          then checked (largest found) (fun D => forallb (fun x => at_most x D) found) else None
      | _ => None
      end
  | _ => None
  end.

Definition menu_epsilon (m : menu) := ratios (questions m).
Definition menu_c shared i (m : menu) : option fraction :=
  match joint i (questions m) with
  | Some (qn, p) => joint_level i qn p shared (0, 1) None (Some (1, 1))
  | None => ratios (filter (own i) (questions m))
  end.
Definition menu_delta shared (sp : spans) i (m : menu) : option fraction :=
  match nth_error (knows m) i with
  | Some known =>
      smaller
        (match joint i (questions m) with
         | Some (qn, p) =>
             let rest := ratios (rest_of i (questions m)) in
             match sp with
             | [] => joint_level i qn p shared (correlation_bound known) (odds_bound known) rest
             | _ => range_level i qn p sp (correlation_bound known) (odds_bound known) rest
             end
         | None => independent i (questions m) (correlation_bound known) (odds_bound known)
         end)
        (told_level i (questions m) (laws known))
  | None => None
  end.

(* Theorem 2: the largest over the menus *)
Fixpoint all_some {T} (l : list (option T)) : option (list T) :=
  match l with
  | [] => Some []
  | Some x :: r => option_map (cons x) (all_some r)
  | None :: _ => None
  end.
Definition over_menus (level : menu -> option fraction) (pl : plan) : option fraction :=
  match all_some (map level (menus pl)) with
  | Some found => checked (largest found) (fun D => forallb (fun x => at_most x D) found)
  | None => None
  end.
Definition shared pl i := nth i (shares pl) true.
Definition epsilon_of pl := over_menus menu_epsilon pl.
Definition c_of pl i := over_menus (menu_c (shared pl i) i) pl.
Definition spans_of pl i := nth i (ranges pl) [].
Definition delta_of pl i := over_menus (menu_delta (shared pl i) (spans_of pl i) i) pl.

(* Menus are drawn with weights out of 2^32, and every table is one. *)
Definition proper_plan pl :=
  forallb (fun m => (0 <=? weight m) && forallb proper (questions m)) (menus pl)
  && (fold_right Z.add 0 (map weight (menus pl)) =? total).
Definition levels_of pl : option (option fraction * list (option fraction * option fraction)) :=
  if proper_plan pl
  then Some (epsilon_of pl, map (fun i => (c_of pl i, delta_of pl i)) (seq 0 (length (shares pl)))) else None.
