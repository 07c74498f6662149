(* The mechanism that the tables of a plan define (section 4 of theory.md), for one feature i at a time.

   A record is (v, w): the value of feature i, and everything else. A device turns the record into one level for each
   coordinate of each question, independently, by any chances it likes: these are its codings. A coordinate that is
   feature i itself is coded from v alone, one that does not concern it from w alone, and one made of both, such as a
   product, from both. The tables then give the chances of the answers.

   Where guesses are about ranges of a number, v is the range only. The number belongs to w, and is coded from both. *)
Require Import Reals Lra List ZArith Lia Bool.
Import ListNotations.
Require Import Sums Notions Variation Checker.
Open Scope R_scope.

(* the product of f_1(a_1), f_2(a_2), .. *)
Fixpoint times {T} (fs : list (T -> R)) (l : list T) : R :=
  match fs, l with f :: fs, a :: l => f a * times fs l | _, _ => 1 end.

Lemma sum_tuples {T} (f : list T -> R) s r :
  sum f (tuples (s :: r)) = sum (fun a => sum (fun l => f (a :: l)) (tuples r)) s.
Proof. simpl. rewrite sum_flat_map. apply sum_ext; intro a. apply sum_map. Qed.
Lemma in_tuples {T} (s : list T) r l : In l (tuples (s :: r)) -> exists a l', l = a :: l' /\ In a s /\ In l' (tuples r).
Proof.
  simpl. intros H. apply in_flat_map in H. destruct H as [a [I H]]. apply in_map_iff in H.
  destruct H as [l' [<- I']]. exists a, l'. auto.
Qed.
Lemma times_one {T} (fs : list (T -> R)) sets :
  Forall2 (fun f s => sum f s = 1) fs sets -> sum (times fs) (tuples sets) = 1.
Proof.
  induction 1 as [|f s fs sets H _ IH]; [simpl; ring|]. rewrite sum_tuples. simpl.
  rewrite (sum_ext _ (fun a => f a * 1)) by (intro a; rewrite sum_scal, IH; reflexivity).
  rewrite (sum_ext _ f) by (intro; ring). exact H.
Qed.
Lemma times_pos {T} (fs : list (T -> R)) l : Forall (fun f => forall a, 0 <= f a) fs -> 0 <= times fs l.
Proof.
  intros H. revert l. induction H as [|f fs H _ IH]; intros [|a l]; simpl; try lra. apply Rmult_le_pos; auto.
Qed.

Section Device.
Context {V W : Type}.
(* What guesses about feature i are about: its values, several of which may share a level, or ranges with numbers. *)
Inductive guesses := Values (shares_levels : bool) | Ranges (sp : spans) (index : V -> nat).
Variables (lv : list V) (lw : list W) (i : nat) (mode : guesses).

Inductive coding :=
  | OfFeature (rho : V -> nat -> R)
  | OfOthers (sigma : W -> nat -> R)
  | OfBoth (kappa : V -> W -> nat -> R).

Definition level_chance c v w a :=
  match c with OfFeature rho => rho v a | OfOthers sigma => sigma w a | OfBoth kappa => kappa v w a end.

(* Each value is its own level, unless values may share levels. *)
Definition own_level k (rho : V -> nat -> R) := exists level : V -> nat,
  (forall v, In v lv -> In (level v) (levels k)) /\
  (forall v v', In v lv -> In v' lv -> level v = level v' -> v = v') /\
  (forall v a, In v lv -> rho v a = point Nat.eq_dec (level v) a).

(* The law of the level of a number in range v is a mixture of the laws that are extreme in this range. *)
Definition in_range k sp (index : V -> nat) (kappa : V -> W -> nat -> R) :=
  (forall v v', In v lv -> In v' lv -> index v = index v' -> v = v') /\
  forall rows v w, span (size k) sp = Some rows -> In v lv -> In w lw ->
  (index v < length rows)%nat /\
  exists s : list Z -> R, (forall row, 0 <= s row) /\ sum s (nth (index v) rows []) = 1 /\
    forall a, In a (levels k) ->
      kappa v w a = sum (fun row => s row * (IZR (number a row) / IZR (law_total row))) (nth (index v) rows []).

Definition fits_coordinate k c :=
  match c with
  | OfFeature rho => features k = [i] /\ (forall v a, 0 <= rho v a) /\
      (forall v, In v lv -> sum (rho v) (levels k) = 1) /\
      match mode with Values shares_levels => shares_levels = false -> own_level k rho | Ranges _ _ => False end
  | OfOthers sigma => concerns i k = false /\ (forall w a, 0 <= sigma w a) /\
      (forall w, In w lw -> sum (sigma w) (levels k) = 1)
  | OfBoth kappa => concerns i k = true /\ (forall v w a, 0 <= kappa v w a) /\
      (forall v w, In v lv -> In w lw -> sum (kappa v w) (levels k) = 1) /\
      (features k = [i] -> match mode with Values _ => False | Ranges sp index => in_range k sp index kappa end)
  end.
Definition fits_question qn cs := Forall2 fits_coordinate (coordinates qn) cs.
Definition fits_menu (qs : list question) css := Forall2 fits_question qs css.

Definition symbol_chance qn l y := IZR (cell qn l y) / IZR total.
(* chance of the answer y to a question, and of the answers ys to a menu *)
Definition answer qn cs v w y :=
  sum (fun l => times (map (fun c => level_chance c v w) cs) l * symbol_chance qn l y) (vectors (coordinates qn)).
Fixpoint answers qs css v w ys :=
  match qs, css, ys with
  | qn :: qs, cs :: css, y :: ys => answer qn cs v w y * answers qs css v w ys
  | _, _, _ => 1
  end.
Definition outputs qs := tuples (map symbols qs).

(* What a menu sees of the others: the levels of all coordinates that do not concern feature i, and 0 for the rest. *)
Definition sees c w a := match c with OfOthers sigma => sigma w a | _ => 1 end.
Definition sees_vector cs w l := times (map (fun c => sees c w) cs) l.
Definition sees_menu css w z := times (map (fun cs => sees_vector cs w) css) z.
Definition menu_masked qs := tuples (map (fun qn => masked i (coordinates qn)) qs).

(* ---- Codings that fit ---- *)
Lemma concerns_itself k : features k = [i] -> concerns i k = true.
Proof. intros H. unfold concerns. rewrite H. simpl. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma coded_one ks cs v w : Forall2 fits_coordinate ks cs -> In v lv -> In w lw ->
  sum (times (map (fun c => level_chance c v w) cs)) (vectors ks) = 1.
Proof.
  intros F Iv Iw. apply times_one. induction F as [|k c ks cs H _ IH]; constructor; auto.
  destruct c; simpl in *; apply H; assumption.
Qed.
Lemma coded_pos ks cs v w l : Forall2 fits_coordinate ks cs -> 0 <= times (map (fun c => level_chance c v w) cs) l.
Proof.
  intros F. apply times_pos. clear l. induction F as [|k c ks cs H _ IH]; constructor; auto.
  intro a. destruct c; simpl in *; apply H.
Qed.
Lemma sees_pos ks cs w l : Forall2 fits_coordinate ks cs -> 0 <= sees_vector cs w l.
Proof.
  intros F. apply times_pos. clear l. induction F as [|k c ks cs H _ IH]; constructor; auto.
  intro a. destruct c; simpl in *; try lra. apply H.
Qed.
Lemma sees_one ks cs w : Forall2 fits_coordinate ks cs -> In w lw -> sum (sees_vector cs w) (masked i ks) = 1.
Proof.
  intros F Iw. apply times_one. induction F as [|k c ks cs H _ IH]; constructor; auto.
  destruct c; simpl in *.
  - rewrite concerns_itself by apply H. simpl. ring.
  - destruct H as [-> [_ one]]. auto.
  - destruct H as [-> _]. simpl. ring.
Qed.
Lemma sees_menu_pos qs css w z : fits_menu qs css -> 0 <= sees_menu css w z.
Proof.
  intros F. apply times_pos. clear z. induction F as [|qn cs qs css H _ IH]; constructor; auto.
  intro l. apply (sees_pos (coordinates qn)), H.
Qed.
Lemma sees_menu_one qs css w : fits_menu qs css -> In w lw -> sum (sees_menu css w) (menu_masked qs) = 1.
Proof.
  intros F Iw. apply times_one. induction F as [|qn cs qs css H _ IH]; constructor; auto.
  apply (sees_one (coordinates qn)); assumption.
Qed.

(* A question that does not concern feature i is answered from what is seen of the others. *)
Lemma others_only ks cs : Forall2 fits_coordinate ks cs -> existsb (concerns i) ks = false ->
  masked i ks = vectors ks /\
  forall v w l, times (map (fun c => level_chance c v w) cs) l = sees_vector cs w l.
Proof.
  intros F. induction F as [|k c ks cs H F IH]; intros E; [split; reflexivity|]. simpl in E.
  apply orb_false_iff in E. destruct E as [E E']. destruct (IH E') as [m t]. split.
  - unfold masked, vectors in *. simpl. rewrite E, m. reflexivity.
  - intros v w [|a l]; [reflexivity|]. unfold sees_vector. simpl. rewrite (t v w l).
    destruct c; simpl in *; [|reflexivity|]; destruct H as [h _]; [apply concerns_itself in h|]; congruence.
Qed.
Lemma answer_seen qn cs v w y : fits_question qn cs -> own i qn = false ->
  answer qn cs v w y = sum (fun l => sees_vector cs w l * symbol_chance qn l y) (masked i (coordinates qn)).
Proof.
  intros F E. destruct (others_only _ _ F E) as [m t]. unfold answer. rewrite m.
  apply sum_ext; intro l. rewrite t. reflexivity.
Qed.

(* A question with a coordinate that is feature i, in place p, and no other that concerns it. *)
Lemma own_seen ks cs p : Forall2 fits_coordinate ks cs -> place i ks = Some p ->
  exists k c, nth_error ks p = Some k /\ features k = [i] /\ fits_coordinate k c /\
  forall v w (F : list nat -> R),
    sum (fun l => times (map (fun c => level_chance c v w) cs) l * F l) (vectors ks)
    = sum (fun l => sees_vector cs w l * sum (fun a => level_chance c v w a * F (put p a l)) (levels k)) (masked i ks).
Proof.
  intros F. revert p. induction F as [|k c ks cs H F IH]; intros p E; [discriminate|]. simpl in E.
  destruct (concerns i k) eqn:C.
  - destruct (features k) as [|j [|? ?]] eqn:f; try discriminate.
    destruct (existsb (concerns i) ks) eqn:E'; [discriminate|]. inversion E; subst p. clear E.
    assert (j = i).
    { unfold concerns in C. rewrite f in C. simpl in C. rewrite orb_false_r in C. apply Nat.eqb_eq in C. auto. }
    subst j. exists k, c. split; [reflexivity|]. split; [exact f|]. split; [exact H|]. intros v w G.
    assert (hidden : forall a, sees c w a = 1) by (destruct c; simpl in *; auto; destruct H; congruence).
    destruct (others_only _ _ F E') as [m t]. unfold masked, vectors in *. simpl map. rewrite C.
    rewrite !sum_tuples, m. simpl. rewrite Rplus_0_r. rewrite sum_swap. apply sum_ext; intro l.
    unfold sees_vector at 1. simpl. rewrite hidden, <- sum_scal. apply sum_ext; intro a. rewrite t.
    unfold sees_vector, put. simpl. ring.
  - destruct (place i ks) as [p'|] eqn:E'; [|discriminate]. inversion E; subst p.
    destruct (IH p' eq_refl) as [k' [c' [n [f [h e]]]]]. exists k', c'. split; [exact n|]. split; [exact f|].
    split; [exact h|].
    intros v w G. unfold masked, vectors in *. simpl map. rewrite C, !sum_tuples. apply sum_ext; intro b.
    destruct c as [rho'|sigma|kappa]; simpl in H;
      [destruct H as [h' _]; apply concerns_itself in h'; congruence| |destruct H; congruence].
    simpl. transitivity (sigma w b * sum (fun l => times (map (fun c => level_chance c v w) cs) l * G (b :: l))
                                       (tuples (map levels ks))).
    + rewrite <- sum_scal. apply sum_ext; intro l. ring.
    + rewrite (e v w (fun l => G (b :: l))), <- sum_scal. apply sum_ext; intro l. unfold sees_vector, put. simpl. ring.
Qed.

(* ---- The answers to some of the questions of a menu ---- *)
Fixpoint part (keep : question -> bool) qs css v w ys :=
  match qs, css, ys with
  | qn :: qs, cs :: css, y :: ys => (if keep qn then answer qn cs v w y else 1) * part keep qs css v w ys
  | _, _, _ => 1
  end.
Fixpoint part_seen (keep : question -> bool) qs ys z :=
  match qs, ys, z with
  | qn :: qs, y :: ys, l :: z => (if keep qn then symbol_chance qn l y else 1) * part_seen keep qs ys z
  | _, _, _ => 1
  end.
Definition other qn := negb (own i qn).

Lemma answers_all qs css v w ys : answers qs css v w ys = part (fun _ => true) qs css v w ys.
Proof. revert css ys. induction qs as [|qn qs IH]; intros [|cs css] [|y ys]; simpl; rewrite ?IH; reflexivity. Qed.
Lemma answers_split qs css v w ys :
  answers qs css v w ys = part (own i) qs css v w ys * part other qs css v w ys.
Proof.
  revert css ys. induction qs as [|qn qs IH]; intros [|cs css] [|y ys]; simpl; try ring.
  rewrite IH. unfold other. destruct (own i qn); simpl; ring.
Qed.
Lemma other_seen qs css v w ys : fits_menu qs css -> In ys (outputs qs) -> In w lw ->
  part other qs css v w ys = sum (fun z => sees_menu css w z * part_seen other qs ys z) (menu_masked qs).
Proof.
  intros F. revert ys. induction F as [|qn cs qs css H F IH]; intros ys I Iw.
  - destruct I as [<-|[]]. unfold sees_menu. simpl. ring.
  - apply in_tuples in I. destruct I as [y [ys' [-> [Iy I]]]]. simpl part. rewrite (IH ys' I Iw).
    unfold menu_masked. simpl map. rewrite sum_tuples.
    transitivity (sum (fun l => sees_vector cs w l * (if other qn then symbol_chance qn l y else 1))
      (masked i (coordinates qn))
                  * sum (fun z => sees_menu css w z * part_seen other qs ys' z) (menu_masked qs)).
    + f_equal. unfold other. destruct (own i qn) eqn:E; simpl.
      * rewrite (sum_ext _ (sees_vector cs w)) by (intro; ring). rewrite (sees_one (coordinates qn)); auto.
      * apply answer_seen; assumption.
    + rewrite sum_prod. apply sum_ext; intro l. apply sum_ext; intro z. unfold sees_menu. simpl. ring.
Qed.

(* ---- The one question of a menu that concerns feature i, in a place of its own ---- *)
Fixpoint own_part p a qs ys z :=
  match qs, ys, z with
  | qn :: qs, y :: ys, l :: z => (if own i qn then symbol_chance qn (put p a l) y else 1) * own_part p a qs ys z
  | _, _, _ => 1
  end.
Lemma no_own qs css v w ys : filter (own i) qs = [] -> part (own i) qs css v w ys = 1.
Proof.
  revert css ys. induction qs as [|qn qs IH]; intros [|cs css] [|y ys] E; simpl in *; try reflexivity.
  destruct (own i qn); [discriminate|]. rewrite IH by exact E. ring.
Qed.
Lemma no_own_part qs p a ys z : filter (own i) qs = [] -> own_part p a qs ys z = 1.
Proof.
  revert ys z. induction qs as [|qn qs IH]; intros [|y ys] [|l z] E; simpl in *; try reflexivity.
  destruct (own i qn); [discriminate|]. rewrite IH by exact E. ring.
Qed.

(* what is seen of the others in it *)
Fixpoint own_vector qs (z : list (list nat)) : list nat :=
  match qs, z with qn :: qs, l :: z => if own i qn then l else own_vector qs z | _, _ => [] end.

Lemma joint_seen qs css qn p : fits_menu qs css -> filter (own i) qs = [qn] -> place i (coordinates qn) = Some p ->
  exists k c, nth_error (coordinates qn) p = Some k /\ features k = [i] /\ fits_coordinate k c /\
  forall ys, In ys (outputs qs) ->
    (forall v w, In w lw -> answers qs css v w ys
       = sum (fun z => sees_menu css w z
                * sum (fun a => level_chance c v w a * (own_part p a qs ys z * part_seen other qs ys z)) (levels k))
           (menu_masked qs)) /\
    exists y, In y (symbols qn) /\ forall z, In z (menu_masked qs) ->
      In (own_vector qs z) (masked i (coordinates qn)) /\
      forall a, own_part p a qs ys z = symbol_chance qn (put p a (own_vector qs z)) y.
Proof.
  intros F. induction F as [|q0 cs qs css H F IH]; intros E P; [discriminate|]. simpl in E.
  destruct (own i q0) eqn:o.
  - inversion E; subst q0. clear IH.
    destruct (own_seen _ _ p H P) as [k [c [n [f [h e]]]]]. exists k, c. split; [exact n|]. split; [exact f|].
    split; [exact h|].
    intros ys I. apply in_tuples in I. destruct I as [y [ys' [-> [Iy I]]]]. split.
    + intros v w Iw. simpl answers. rewrite answers_split.
      rewrite no_own, Rmult_1_l, other_seen by assumption.
      unfold answer. rewrite e, sum_prod. unfold menu_masked. simpl map. rewrite sum_tuples.
      apply sum_ext; intro l. apply sum_ext; intro z.
      assert (oo : other qn = false) by (unfold other; rewrite o; reflexivity).
      unfold sees_menu. simpl. rewrite o, oo.
      transitivity (sees_vector cs w l * times (map (fun cs => sees_vector cs w) css) z * part_seen other qs ys' z
                    * sum (fun a => level_chance c v w a * symbol_chance qn (put p a l) y) (levels k)); [ring|].
      rewrite Rmult_assoc, <- (sum_scal (part_seen other qs ys' z)). f_equal. apply sum_ext; intro a.
      rewrite no_own_part by assumption. ring.
    + exists y. split; [exact Iy|]. intros z Iz. apply in_tuples in Iz. destruct Iz as [l [z' [-> [Il Iz]]]].
      simpl. rewrite o. split; [exact Il|]. intro a. rewrite no_own_part by assumption. ring.
  - destruct (IH E P) as [k [c [n [f [h e]]]]]. exists k, c. split; [exact n|]. split; [exact f|]. split; [exact h|].
    intros ys I. apply in_tuples in I. destruct I as [y [ys' [-> [Iy I]]]]. destruct (e ys' I) as [sums values]. split.
    + intros v w Iw. simpl answers. rewrite (sums v w Iw), (answer_seen q0 cs v w y H o), sum_prod.
      unfold menu_masked. simpl map. rewrite sum_tuples. apply sum_ext; intro l. apply sum_ext; intro z.
      assert (oo : other q0 = true) by (unfold other; rewrite o; reflexivity).
      unfold sees_menu. simpl. rewrite o, oo.
      transitivity (sees_vector cs w l * times (map (fun cs => sees_vector cs w) css) z
                    * (symbol_chance q0 l y
                       * sum (fun a => level_chance c v w a * (own_part p a qs ys' z * part_seen other qs ys' z))
                           (levels k))); [ring|].
      f_equal. rewrite <- sum_scal. apply sum_ext; intro a. ring.
    + destruct values as [y1 [Iy1 values]]. exists y1. split; [exact Iy1|]. intros z Iz.
      apply in_tuples in Iz. destruct Iz as [l [z' [-> [Il Iz]]]]. destruct (values z' Iz) as [Il1 ev].
      simpl. rewrite o. split; [exact Il1|]. intro a. rewrite ev. ring.
Qed.
End Device.
