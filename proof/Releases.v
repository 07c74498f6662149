(* What happens to the four notions when a release is processed (Proposition 4), when releases add up
   (section 2, Composition and Theorem 13) and when a menu is drawn at random (Theorem 2). *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums Notions Variation Response.
Open Scope R_scope.

(* Each notion compares two functionals of a chance given the record, and both are linear in it. *)
Section Linear.
Context {A Z : Type}.
Definition linear (phi : (A -> Z -> R) -> R) := forall (T : Type) (l : list T) (w : T -> R) (f : T -> A -> Z -> R) g,
  (forall a z, g a z = sum (fun t => w t * f t a z) l) -> phi g = sum (fun t => w t * phi (f t)) l.
Definition compares {Y} (ly : list Y) (mu : A -> Z -> Y -> R) L (phi phi' : (A -> Z -> R) -> R) :=
  forall E, event E -> phi (prob ly mu E) <= L * phi' (prob ly mu E).

Lemma linear_at a z : linear (fun f => f a z).
Proof. intros T l w f g H. apply H. Qed.
Lemma linear_record_chance la lz pi S : linear (fun f => record_chance (A := A) (Z := Z) la lz pi f S).
Proof.
  intros T l w f g H. unfold record_chance, Rdiv. set (i := / record_mass la lz pi S).
  transitivity (i * sum (fun t => w t * sum (fun a => sum (fun z => S a z * pi a z * f t a z) lz) la) l).
  - rewrite Rmult_comm. f_equal.
    transitivity (sum (fun a => sum (fun t => w t * sum (fun z => S a z * pi a z * f t a z) lz) l) la).
    + apply sum_ext; intro a.
      transitivity (sum (fun z => sum (fun t => w t * (S a z * pi a z * f t a z)) l) lz).
      * apply sum_ext; intro z. rewrite H, <- sum_scal. apply sum_ext; intro t. ring.
      * rewrite sum_swap. apply sum_ext; intro t. apply sum_scal.
    + rewrite sum_swap. apply sum_ext; intro t. apply sum_scal.
  - rewrite <- sum_scal. apply sum_ext; intro t. ring.
Qed.
Lemma linear_chance la lz pi S : linear (fun f => chance (A := A) (Z := Z) la lz pi f S).
Proof. exact (linear_record_chance la lz pi (fun a _ => S a)). Qed.

Lemma compares_outputs {Y} (ly : list Y) mu L phi phi' :
  linear phi -> linear phi' -> (forall y y' : Y, {y = y'} + {y <> y'}) -> NoDup ly ->
  compares ly mu L phi phi' <->
  (forall y, In y ly -> phi (fun a z => mu a z y) <= L * phi' (fun a z => mu a z y)).
Proof.
  intros lin lin' eqY ny.
  assert (e : forall E, phi (prob ly mu E) = sum (fun y => E y * phi (fun a z => mu a z y)) ly)
    by (intro E; apply (lin Y ly E (fun y a z => mu a z y)); reflexivity).
  assert (e' : forall E, phi' (prob ly mu E) = sum (fun y => E y * phi' (fun a z => mu a z y)) ly)
    by (intro E; apply (lin' Y ly E (fun y a z => mu a z y)); reflexivity).
  split.
  - intros H. apply (to_outputs ly (fun y => phi (fun a z => mu a z y)) (fun y => phi' (fun a z => mu a z y)) L eqY ny).
    intros E HE. rewrite <- e, <- e'. apply H, HE.
  - intros H E HE. rewrite e, e'. apply from_outputs; assumption.
Qed.
End Linear.

(* ---- Proposition 4: post-processing ---- *)
Section Processing.
Context {A Z Y U : Type} (la : list A) (lz : list Z) (ly : list Y) (lu : list U).
Variable mu : A -> Z -> Y -> R.
Variable K : Y -> U -> R.                (* the randomized function; it does not look at the record *)
Variable L : R.
Hypothesis K_pos : forall y u, 0 <= K y u.
Hypothesis eqY : forall y y' : Y, {y = y'} + {y <> y'}.
Hypothesis ny : NoDup ly.
Definition processed a z u := sum (fun y => K y u * mu a z y) ly.

Lemma processing_compares phi phi' : linear phi -> linear phi' ->
  compares ly mu L phi phi' -> compares lu processed L phi phi'.
Proof.
  intros lin lin' H E HE.
  assert (e : forall f, linear f -> f (prob lu processed E)
              = sum (fun y => sum (fun u => E u * K y u) lu * f (fun a z => mu a z y)) ly).
  { intros f lf. apply (lf Y ly _ (fun y a z => mu a z y)). intros a z. unfold prob, processed.
    transitivity (sum (fun u => sum (fun y => E u * (K y u * mu a z y)) ly) lu).
    - apply sum_ext; intro u. symmetry. apply sum_scal.
    - rewrite sum_swap. apply sum_ext; intro y. rewrite Rmult_comm, <- sum_scal. apply sum_ext; intro u. ring. }
  rewrite !e by assumption. apply lemma_1; intros y I.
  assert (B := proj1 (compares_outputs ly mu L phi phi' lin lin' eqY ny) H y I).
  assert (0 <= sum (fun u => E u * K y u) lu).
  { apply sum_nonneg; intros u _. apply Rmult_le_pos; [destruct (HE u) as [->| ->]; lra | auto]. }
  assert (0 <= sum (fun u => E u * K y u) lu * (L * phi' (fun a z => mu a z y) - phi (fun a z => mu a z y)))
    by (apply Rmult_le_pos; lra).
  lra.
Qed.

Theorem proposition_4_ldp : ldp la lz ly mu L -> ldp la lz lu processed L.
Proof.
  intros H E HE a z a' z' I J I' J'.
  apply (processing_compares (fun f => f a z) (fun f => f a' z')); auto using linear_at.
  intros F HF. apply H; assumption.
Qed.
Theorem proposition_4_cdp : cdp la lz ly mu L -> cdp la lz lu processed L.
Proof.
  intros H E HE a a' z I I' J.
  apply (processing_compares (fun f => f a z) (fun f => f a' z)); auto using linear_at.
  intros F HF. apply H; assumption.
Qed.
Theorem proposition_4_bdp pi : bdp la lz ly pi mu L -> bdp la lz lu pi processed L.
Proof.
  intros H E HE S S' HS HS' M M'.
  apply (processing_compares (fun f => record_chance la lz pi f S) (fun f => record_chance la lz pi f S'));
    auto using linear_record_chance.
  intros F HF. apply H; assumption.
Qed.
Theorem proposition_4_bcdp pi : bcdp la lz ly pi mu L -> bcdp la lz lu pi processed L.
Proof.
  intros H E HE S S' HS HS' M M'.
  apply (processing_compares (fun f => chance la lz pi f S) (fun f => chance la lz pi f S'));
    auto using linear_chance.
  intros F HF. apply H; assumption.
Qed.
End Processing.

(* ---- Composition: the second release is chosen after seeing the output of the first ---- *)
Section Composition.
Context {A Z Y Y' : Type} (la : list A) (lz : list Z) (ly : list Y) (ly' : list Y').
Variables (mu : A -> Z -> Y -> R) (nu : Y -> A -> Z -> Y' -> R).
Variables (L1 : R) (L2 : Y -> R) (L : R).
Hypothesis mu_pos : forall a z y, 0 <= mu a z y.
Hypothesis nu_pos : forall y a z y', 0 <= nu y a z y'.
Hypothesis L1_pos : 0 <= L1.
Hypothesis history : forall y, In y ly -> L1 * L2 y <= L.     (* over every history *)
Hypothesis eqY : forall y y' : Y, {y = y'} + {y <> y'}.
Hypothesis eqY' : forall y y' : Y', {y = y'} + {y <> y'}.
Hypothesis (ny : NoDup ly) (ny' : NoDup ly').
Definition both a z (y : Y * Y') := mu a z (fst y) * nu (fst y) a z (snd y).

Lemma ratios_multiply a z a' z' y y' : In y ly ->
  mu a z y <= L1 * mu a' z' y -> nu y a z y' <= L2 y * nu y a' z' y' ->
  both a z (y, y') <= L * both a' z' (y, y').
Proof.
  intros I H1 H2. unfold both. simpl.
  apply Rle_trans with ((L1 * mu a' z' y) * (L2 y * nu y a' z' y')); [apply Rmult_le_compat; auto|].
  replace (L1 * mu a' z' y * (L2 y * nu y a' z' y')) with (L1 * L2 y * (mu a' z' y * nu y a' z' y')) by ring.
  apply Rmult_le_compat_r; [apply Rmult_le_pos; auto | auto].
Qed.

Theorem composition_ldp : ldp la lz ly mu L1 -> (forall y, In y ly -> ldp la lz ly' (nu y) (L2 y)) ->
  ldp la lz (list_prod ly ly') both L.
Proof.
  intros H1 H2 E HE a z a' z' I J I' J'. apply from_outputs; [|exact HE]. intros [y y'] Iy.
  apply in_prod_iff in Iy. destruct Iy as [Iy Iy']. apply ratios_multiply; [exact Iy| |].
  - apply (proposition_1_ldp la lz ly mu L1 eqY ny); assumption.
  - apply (proposition_1_ldp la lz ly' (nu y) (L2 y) eqY' ny'); auto.
Qed.
Theorem composition_cdp : cdp la lz ly mu L1 -> (forall y, In y ly -> cdp la lz ly' (nu y) (L2 y)) ->
  cdp la lz (list_prod ly ly') both L.
Proof.
  intros H1 H2 E HE a a' z I I' J. apply from_outputs; [|exact HE]. intros [y y'] Iy.
  apply in_prod_iff in Iy. destruct Iy as [Iy Iy']. apply ratios_multiply; [exact Iy| |].
  - apply (proposition_1_cdp la lz ly mu L1 eqY ny); assumption.
  - apply (proposition_1_cdp la lz ly' (nu y) (L2 y) eqY' ny'); auto.
Qed.

(* Theorem 13: one release on its own condition, every other at its LDP level. *)
Variable pi : A -> Z -> R.
Hypothesis pi_pos : forall a z, 0 <= pi a z.
Hypothesis L2_pos : forall y, 0 <= L2 y.

Lemma given_product (f g : A -> Z -> R) D G a a' :
  (forall a z, 0 <= f a z) -> (forall a z, 0 <= g a z) -> 0 <= D -> 0 <= G ->
  In a la -> In a' la -> 0 < share lz pi a -> 0 < share lz pi a' ->
  given lz pi f a <= D * given lz pi f a' ->
  (forall z z', In z lz -> In z' lz -> g a z <= G * g a' z') ->
  given lz pi (fun a z => f a z * g a z) a <= D * G * given lz pi (fun a z => f a z * g a z) a'.
Proof.
  intros fp gp Dp Gp I I' P P' HF HG.
  set (F := given lz pi f a) in *. set (F' := given lz pi f a') in *.
  set (X := given lz pi (fun a z => f a z * g a z) a). set (X' := given lz pi (fun a z => f a z * g a z) a').
  assert (cp := cond_pos lz pi pi_pos a P). assert (cp' := cond_pos lz pi pi_pos a' P').
  assert (one : forall z', In z' lz -> X <= G * g a' z' * F).
  { intros z' J'. unfold X, F, given. rewrite <- sum_scal. apply sum_le; intros z J.
    assert (0 <= cond lz pi a z * f a z * (G * g a' z' - g a z)); [|lra].
    apply Rmult_le_pos; [apply Rmult_le_pos; auto | specialize (HG z z' J J'); lra]. }
  assert (F'p : 0 <= F') by (apply sum_nonneg; intros; apply Rmult_le_pos; auto).
  assert (X'p : 0 <= X') by (apply sum_nonneg; intros; apply Rmult_le_pos; auto using Rmult_le_pos).
  assert (K : F' * X <= G * F * X').
  { unfold F' at 1, X', given. rewrite Rmult_comm, <- !sum_scal. apply sum_le; intros z' J'.
    assert (0 <= cond lz pi a' z' * f a' z' * (G * g a' z' * F - X)); [|lra].
    apply Rmult_le_pos; [apply Rmult_le_pos; auto | specialize (one z' J'); lra]. }
  destruct (Rle_lt_or_eq_dec _ _ F'p) as [Q|Q].
  - apply Rmult_le_reg_l with F'; [exact Q|].
    assert (0 <= G * X' * (D * F' - F)) by (apply Rmult_le_pos; [apply Rmult_le_pos; assumption | lra]). lra.
  - destruct (sum_pos_inhabited (pi a') lz P') as [z' J']. specialize (one z' J').
    assert (0 <= D * G * X') by (repeat apply Rmult_le_pos; assumption).
    assert (F <= 0) by (rewrite <- Q in HF; lra).
    assert (0 <= G * g a' z' * (0 - F)) by (apply Rmult_le_pos; [apply Rmult_le_pos; auto | lra]). lra.
Qed.

Hypothesis eqA : forall a a' : A, {a = a'} + {a <> a'}.
Hypothesis na : NoDup la.

Lemma both_nonneg y y' a : 0 < share lz pi a -> 0 <= given lz pi (fun a z => both a z (y, y')) a.
Proof.
  intros P. apply sum_nonneg; intros z _. apply Rmult_le_pos; [apply (cond_pos lz pi pi_pos a P)|].
  unfold both. simpl. auto using Rmult_le_pos.
Qed.

Theorem composition_bcdp_first : bcdp la lz ly pi mu L1 -> (forall y, In y ly -> ldp la lz ly' (nu y) (L2 y)) ->
  bcdp la lz (list_prod ly ly') pi both L.
Proof.
  intros H1 H2. apply from_values; [exact pi_pos|]. intros [y y'] a a' Iy I I' P P'.
  apply in_prod_iff in Iy. destruct Iy as [Iy Iy'].
  apply Rle_trans with (L1 * L2 y * given lz pi (fun a z => both a z (y, y')) a').
  - apply (given_product (fun a z => mu a z y) (fun a z => nu y a z y')); auto.
    + apply (proposition_1_bcdp la lz ly mu L1 eqA eqY na ny pi pi_pos); assumption.
    + intros z z' J J'. apply (proposition_1_ldp la lz ly' (nu y) (L2 y) eqY' ny'); auto.
  - apply Rmult_le_compat_r; [apply both_nonneg|]; auto.
Qed.

Theorem composition_bcdp_second : ldp la lz ly mu L1 -> (forall y, In y ly -> bcdp la lz ly' pi (nu y) (L2 y)) ->
  bcdp la lz (list_prod ly ly') pi both L.
Proof.
  intros H1 H2. apply from_values; [exact pi_pos|]. intros [y y'] a a' Iy I I' P P'.
  apply in_prod_iff in Iy. destruct Iy as [Iy Iy'].
  apply Rle_trans with (L2 y * L1 * given lz pi (fun a z => both a z (y, y')) a').
  - assert (e : forall b, given lz pi (fun a z => both a z (y, y')) b
                = given lz pi (fun a z => nu y a z y' * mu a z y) b).
    { intro b. apply sum_ext; intro z. unfold both. simpl. ring. }
    rewrite !e. apply (given_product (fun a z => nu y a z y') (fun a z => mu a z y)); auto.
    + apply (proposition_1_bcdp la lz ly' (nu y) (L2 y) eqA eqY' na ny' pi pi_pos); auto.
    + intros z z' J J'. apply (proposition_1_ldp la lz ly mu L1 eqY ny); assumption.
  - rewrite (Rmult_comm (L2 y)). apply Rmult_le_compat_r; [apply both_nonneg|]; auto.
Qed.
End Composition.

(* delta does not add up. Three fair bits; (x1 xor x2, x3) or (x2, x1 xor x3), with chance 1/2 each. *)
Definition indicator (b : bool) : R := if b then 1 else 0.
Definition three_bits (x1 x2 x3 : bool) (y : bool * bool) : R :=
  / 2 * indicator (Bool.eqb (fst y) (xorb x1 x2) && Bool.eqb (snd y) x3)
  + / 2 * indicator (Bool.eqb (fst y) x2 && Bool.eqb (snd y) (xorb x1 x3)).
Definition first_bit x1 (z : bool * bool) := three_bits x1 (fst z) (snd z).
Definition second_bit x2 (z : bool * bool) := three_bits (fst z) x2 (snd z).
Definition third_bit x3 (z : bool * bool) := three_bits (fst z) (snd z) x3.
Definition fair (a : bool) (z : bool * bool) := / 8.
Definition twice (mu : bool -> bool * bool -> bool * bool -> R) a z (y : (bool * bool) * (bool * bool)) :=
  mu a z (fst y) * mu a z (snd y).

Lemma fair_share a : share two_bits fair a = / 2.
Proof. unfold share, fair. simpl. lra. Qed.
Lemma fair_given f a : given two_bits fair f a
  = / 4 * (f a (false, false) + f a (false, true) + f a (true, false) + f a (true, true)).
Proof. unfold given, cond. rewrite fair_share. unfold fair. simpl. field. Qed.
Lemma fair_prior : is_prior bits two_bits fair.
Proof. unfold is_prior, fair. split; [intros; lra | simpl; lra]. Qed.
Ltac enumerate := rewrite ?fair_given; unfold first_bit, second_bit, third_bit, three_bits, twice, indicator; simpl;
  lra.

Theorem delta_of_three_bits :
  bcdp bits two_bits two_bits fair first_bit 1 /\
  (forall L, bcdp bits two_bits two_bits fair second_bit L <-> 3 <= L) /\
  (forall L, bcdp bits two_bits two_bits fair third_bit L <-> 3 <= L).
Proof.
  destruct fair_prior as [pos _].
  assert (half : forall a, 0 < share two_bits fair a) by (intro; rewrite fair_share; lra).
  split; [|split].
  - apply from_values; [exact pos|]. intros [[] []] [] [] _ _ _ _ _; enumerate.
  - intro L. split.
    + intros H. apply (proposition_1_bcdp bits two_bits two_bits second_bit L bits_dec two_bits_dec
                         bits_nodup two_bits_nodup fair pos) with (y := (true, true)) (a := true) (a' := false) in H;
        auto using in_bits, in_two_bits.
      rewrite !fair_given in H. unfold second_bit, three_bits, indicator in H. simpl in H. lra.
    + intros H. apply from_values; [exact pos|]. intros [[] []] [] [] _ _ _ _ _; enumerate.
  - intro L. split.
    + intros H. apply (proposition_1_bcdp bits two_bits two_bits third_bit L bits_dec two_bits_dec
                         bits_nodup two_bits_nodup fair pos) with (y := (true, true)) (a := true) (a' := false) in H;
        auto using in_bits, in_two_bits.
      rewrite !fair_given in H. unfold third_bit, three_bits, indicator in H. simpl in H. lra.
    + intros H. apply from_values; [exact pos|]. intros [[] []] [] [] _ _ _ _ _; enumerate.
Qed.
(* One copy tells nothing about the first bit, and no level bounds what two copies tell. *)
Theorem delta_does_not_add_up :
  bcdp bits two_bits two_bits fair first_bit 1 /\
  (forall L, ~ bcdp bits two_bits (list_prod two_bits two_bits) fair (twice first_bit) L).
Proof.
  split; [apply delta_of_three_bits|]. intros L H. destruct fair_prior as [pos _].
  assert (half : forall a, 0 < share two_bits fair a) by (intro; rewrite fair_share; lra).
  assert (eqY : forall y y' : (bool * bool) * (bool * bool), {y = y'} + {y <> y'})
    by (decide equality; apply two_bits_dec).
  assert (ny : NoDup (list_prod two_bits two_bits)) by (repeat constructor; simpl; intuition discriminate).
  apply (proposition_1_bcdp bits two_bits (list_prod two_bits two_bits) (twice first_bit) L bits_dec eqY
           bits_nodup ny fair pos) with (y := ((true, true), (false, false))) (a := true) (a' := false) in H;
    auto using in_bits.
  - rewrite !fair_given in H. unfold twice, first_bit, three_bits, indicator in H. simpl in H. lra.
  - apply in_prod; apply in_two_bits.
Qed.

(* ---- Theorem 2: the level of a survey is the largest of its menus' ---- *)
Section Menus.
Context {A Z M Y : Type} (la : list A) (lz : list Z) (lm : list M) (ly : M -> list Y).
Variable p : M -> R.                     (* weights of the menus: not a function of the record *)
Variable mu : M -> A -> Z -> Y -> R.     (* chance of answer y, given the menu and the record *)
Hypothesis p_pos : forall m, 0 <= p m.

Definition reports := flat_map (fun m => map (pair m) (ly m)) lm.
Definition survey a z (r : M * Y) := p (fst r) * mu (fst r) a z (snd r).

Lemma prob_survey E a z :
  prob reports survey E a z = sum (fun m => p m * prob (ly m) (mu m) (fun y => E (m, y)) a z) lm.
Proof.
  unfold prob, reports. rewrite sum_flat_map. apply sum_ext; intro m. rewrite sum_map, <- sum_scal.
  apply sum_ext; intro y. unfold survey. simpl. ring.
Qed.

Lemma menus_compare L phi phi' : linear phi -> linear phi' ->
  (forall m, In m lm -> 0 < p m -> compares (ly m) (mu m) L phi phi') -> compares reports survey L phi phi'.
Proof.
  intros lin lin' H E HE.
  rewrite (lin M lm p (fun m => prob (ly m) (mu m) (fun y => E (m, y)))) by (intros; apply prob_survey).
  rewrite (lin' M lm p (fun m => prob (ly m) (mu m) (fun y => E (m, y)))) by (intros; apply prob_survey).
  apply lemma_1; intros m I.
  destruct (Rle_lt_or_eq_dec _ _ (p_pos m)) as [P|P]; [|rewrite <- P; lra].
  rewrite <- Rmult_assoc, (Rmult_comm L), Rmult_assoc.
  apply Rmult_le_compat_l; [lra|]. apply H; auto. intro y. apply HE.
Qed.

Lemma compare_menus (eqM : forall m m' : M, {m = m'} + {m <> m'}) L phi phi' : NoDup lm -> linear phi -> linear phi' ->
  compares reports survey L phi phi' -> forall m, In m lm -> 0 < p m -> compares (ly m) (mu m) L phi phi'.
Proof.
  intros nm lin lin' H m I P E HE.
  assert (HF : event (fun r : M * Y => point eqM m (fst r) * E (snd r))).
  { intros [m' y]. simpl. destruct (point_01 eqM m m') as [->| ->]; [lra|]. destruct (HE y) as [->| ->]; lra. }
  assert (e : forall f, linear f ->
            f (prob reports survey (fun r => point eqM m (fst r) * E (snd r))) = p m * f (prob (ly m) (mu m) E)).
  { intros f lf. transitivity (sum (fun _ : unit => p m * f (prob (ly m) (mu m) E)) [tt]); [|simpl; ring].
    apply (lf unit [tt] (fun _ => p m) (fun _ => prob (ly m) (mu m) E)). intros a z. rewrite prob_survey. simpl.
    rewrite Rplus_0_r, <- (sum_point eqM (fun m => p m * prob (ly m) (mu m) E a z) lm m nm I).
    apply sum_ext; intro m'. unfold prob. rewrite <- !sum_scal. apply sum_ext; intro y. ring. }
  assert (B := H _ HF). rewrite !e in B by assumption.
  apply Rmult_le_reg_l with (p m); [exact P|]. lra.
Qed.

Hypothesis eqM : forall m m' : M, {m = m'} + {m <> m'}.
Hypothesis nm : NoDup lm.
Variable L : R.

Theorem theorem_2_ldp :
  ldp la lz reports survey L <-> (forall m, In m lm -> 0 < p m -> ldp la lz (ly m) (mu m) L).
Proof.
  split.
  - intros H m I P E HE a z a' z' Ia J I' J'.
    apply (compare_menus eqM L (fun f => f a z) (fun f => f a' z')); auto using linear_at.
    intros F HF. apply H; assumption.
  - intros H E HE a z a' z' Ia J I' J'.
    apply (menus_compare L (fun f => f a z) (fun f => f a' z')); auto using linear_at.
    intros m I P F HF. apply H; assumption.
Qed.
Theorem theorem_2_cdp :
  cdp la lz reports survey L <-> (forall m, In m lm -> 0 < p m -> cdp la lz (ly m) (mu m) L).
Proof.
  split.
  - intros H m I P E HE a a' z Ia I' J.
    apply (compare_menus eqM L (fun f => f a z) (fun f => f a' z)); auto using linear_at.
    intros F HF. apply H; assumption.
  - intros H E HE a a' z Ia I' J.
    apply (menus_compare L (fun f => f a z) (fun f => f a' z)); auto using linear_at.
    intros m I P F HF. apply H; assumption.
Qed.
Theorem theorem_2_bdp pi :
  bdp la lz reports pi survey L <-> (forall m, In m lm -> 0 < p m -> bdp la lz (ly m) pi (mu m) L).
Proof.
  split.
  - intros H m I P E HE S S' HS HS' Ms Ms'.
    apply (compare_menus eqM L (fun f => record_chance la lz pi f S) (fun f => record_chance la lz pi f S'));
      auto using linear_record_chance.
    intros F HF. apply H; assumption.
  - intros H E HE S S' HS HS' Ms Ms'.
    apply (menus_compare L (fun f => record_chance la lz pi f S) (fun f => record_chance la lz pi f S'));
      auto using linear_record_chance.
    intros m I P F HF. apply H; assumption.
Qed.
Theorem theorem_2_bcdp pi :
  bcdp la lz reports pi survey L <-> (forall m, In m lm -> 0 < p m -> bcdp la lz (ly m) pi (mu m) L).
Proof.
  split.
  - intros H m I P E HE S S' HS HS' Ms Ms'.
    apply (compare_menus eqM L (fun f => chance la lz pi f S) (fun f => chance la lz pi f S'));
      auto using linear_chance.
    intros F HF. apply H; assumption.
  - intros H E HE S S' HS HS' Ms Ms'.
    apply (menus_compare L (fun f => chance la lz pi f S) (fun f => chance la lz pi f S')); auto using linear_chance.
    intros m I P F HF. apply H; assumption.
Qed.
End Menus.
