(* Section 1 of theory.md: the four notions for finite spaces, and Proposition 1.

   A record is a pair (a, z): a is the value of the feature in question ("feature i"), z everything
   else. A mechanism is a kernel mu: mu a z y is the chance of output y given the record. Finite
   spaces are lists. A notion has a factor L = e^level: LDP at level eps is `ldp .. (exp eps)`. *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums.
Open Scope R_scope.

Definition event {T : Type} (S : T -> R) := forall x, S x = 0 \/ S x = 1.

Section Notions.
Context {A Z Y : Type}.
Variables (la : list A) (lz : list Z) (ly : list Y).

(* chance that the output lies in the set E, given the record *)
Definition prob (mu : A -> Z -> Y -> R) (E : Y -> R) a z := sum (fun y => E y * mu a z y) ly.

(* under a prior pi: mass of an event about feature i, and a chance f given the event *)
Definition mass (pi : A -> Z -> R) (S : A -> R) := sum (fun a => sum (fun z => S a * pi a z) lz) la.
Definition chance (pi : A -> Z -> R) (f : A -> Z -> R) (S : A -> R) :=
  sum (fun a => sum (fun z => S a * pi a z * f a z) lz) la / mass pi S.
(* the same for events about the whole record *)
Definition record_mass (pi : A -> Z -> R) (S : A -> Z -> R) :=
  sum (fun a => sum (fun z => S a z * pi a z) lz) la.
Definition record_chance (pi : A -> Z -> R) (f : A -> Z -> R) (S : A -> Z -> R) :=
  sum (fun a => sum (fun z => S a z * pi a z * f a z) lz) la / record_mass pi S.

Definition ldp mu L := forall E, event E -> forall a z a' z',
  In a la -> In z lz -> In a' la -> In z' lz -> prob mu E a z <= L * prob mu E a' z'.

Definition cdp mu L := forall E, event E -> forall a a' z,
  In a la -> In a' la -> In z lz -> prob mu E a z <= L * prob mu E a' z.

Definition bdp pi mu L := forall E, event E -> forall S S' : A -> Z -> R,
  (forall a, event (S a)) -> (forall a, event (S' a)) -> 0 < record_mass pi S -> 0 < record_mass pi S' ->
  record_chance pi (prob mu E) S <= L * record_chance pi (prob mu E) S'.

Definition bcdp pi mu L := forall E, event E -> forall S S' : A -> R,
  event S -> event S' -> 0 < mass pi S -> 0 < mass pi S' ->
  chance pi (prob mu E) S <= L * chance pi (prob mu E) S'.

Definition is_prior (pi : A -> Z -> R) :=
  (forall a z, 0 <= pi a z) /\ sum (fun a => sum (pi a) lz) la = 1.

(* P(x_i = a), the law of the others given a, the chance f given a *)
Definition share (pi : A -> Z -> R) a := sum (pi a) lz.
Definition cond (pi : A -> Z -> R) a z := pi a z / share pi a.
Definition given (pi : A -> Z -> R) (f : A -> Z -> R) a := sum (fun z => cond pi a z * f a z) lz.
End Notions.

(* ---- Lemma 1, and levels at single outputs, values and records ---- *)

Theorem lemma_1 {T} (u v : T -> R) l r :
  (forall k, In k l -> u k <= r * v k) -> sum u l <= r * sum v l.
Proof. intros H. rewrite <- sum_scal. apply sum_le, H. Qed.

(* A mixture against another one, of numbers that compare pair by pair. *)
Lemma mixtures {T} (l : list T) (x y r r' : T -> R) L : (forall t, 0 <= r t) -> (forall t, 0 <= r' t) ->
  sum r l = 1 -> sum r' l = 1 -> (forall t t', In t l -> In t' l -> x t <= L * y t') ->
  sum (fun t => r t * x t) l <= L * sum (fun t => r' t * y t) l.
Proof.
  intros pos pos' one one' H.
  replace (sum (fun t => r t * x t) l) with (sum (fun t => r t * x t) l * sum r' l) by (rewrite one'; ring).
  replace (sum (fun t => r' t * y t) l) with (sum r l * sum (fun t => r' t * y t) l) by (rewrite one; ring).
  rewrite !sum_prod, <- sum_scal. apply sum_le; intros a J. rewrite <- sum_scal. apply sum_le; intros a' J'.
  specialize (H a a' J J').
  assert (0 <= r a * r' a' * (L * y a' - x a)) by (repeat apply Rmult_le_pos; auto; lra). lra.
Qed.

Section Outputs.
Context {Y : Type} (ly : list Y) (u v : Y -> R) (L : R).
Lemma from_outputs :
  (forall y, In y ly -> u y <= L * v y) ->
  forall E, event E -> sum (fun y => E y * u y) ly <= L * sum (fun y => E y * v y) ly.
Proof.
  intros H E HE. apply lemma_1; intros y I. specialize (H y I). destruct (HE y) as [->| ->]; lra.
Qed.
Lemma to_outputs (eqY : forall y y' : Y, {y = y'} + {y <> y'}) : NoDup ly ->
  (forall E, event E -> sum (fun y => E y * u y) ly <= L * sum (fun y => E y * v y) ly) ->
  forall y, In y ly -> u y <= L * v y.
Proof.
  intros N H y I. specialize (H (point eqY y) (point_01 eqY y)).
  rewrite !sum_point in H by assumption. exact H.
Qed.
End Outputs.

(* Averages over events with masses m: single points are the worst events. *)
Section Events.
Context {T : Type} (l : list T) (m : T -> R) (L : R).
Hypothesis m_pos : forall t, 0 <= m t.
Let total S := sum (fun t => S t * m t) l.
Let average (g : T -> R) S := sum (fun t => S t * (m t * g t)) l / total S.

Lemma from_points (g h : T -> R) :
  (forall t t', In t l -> In t' l -> 0 < m t -> 0 < m t' -> g t <= L * h t') ->
  forall S S', event S -> event S' -> 0 < total S -> 0 < total S' -> average g S <= L * average h S'.
Proof.
  intros H S S' HS HS' M M'. unfold average.
  set (n := sum (fun t => S t * (m t * g t)) l). set (n' := sum (fun t => S' t * (m t * h t)) l).
  assert (K : n * total S' <= L * (n' * total S)).
  { unfold n, n', total. rewrite !sum_prod, (sum_swap _ l l), <- sum_scal.
    apply sum_le; intros t' I'. rewrite <- sum_scal. apply sum_le; intros t I.
    destruct (HS t) as [->| ->]; [lra|]. destruct (HS' t') as [->| ->]; [lra|].
    destruct (Rle_lt_or_eq_dec _ _ (m_pos t)) as [P|P]; [|rewrite <- P; lra].
    destruct (Rle_lt_or_eq_dec _ _ (m_pos t')) as [P'|P']; [|rewrite <- P'; lra].
    assert (0 <= m t * m t' * (L * h t' - g t)); [|lra].
    apply Rmult_le_pos; [apply Rmult_le_pos; lra | specialize (H t t' I I' P P'); lra]. }
  apply Rmult_le_reg_r with (total S * total S'); [apply Rmult_lt_0_compat; assumption|].
  replace (n / total S * (total S * total S')) with (n * total S') by (field; lra).
  replace (L * (n' / total S') * (total S * total S')) with (L * (n' * total S)) by (field; lra).
  exact K.
Qed.

Lemma to_points (eqT : forall t t' : T, {t = t'} + {t <> t'}) (g : T -> R) : NoDup l ->
  (forall S S', event S -> event S' -> 0 < total S -> 0 < total S' -> average g S <= L * average g S') ->
  forall t t', In t l -> In t' l -> 0 < m t -> 0 < m t' -> g t <= L * g t'.
Proof.
  intros N H t t' I I' P P'.
  specialize (H (point eqT t) (point eqT t') (point_01 eqT t) (point_01 eqT t')).
  unfold average, total in H. rewrite !sum_point in H by assumption.
  replace (m t * g t / m t) with (g t) in H by (field; lra).
  replace (m t' * g t' / m t') with (g t') in H by (field; lra). auto.
Qed.
End Events.

Section Prior.
Context {A Z : Type} (la : list A) (lz : list Z) (pi : A -> Z -> R).
Hypothesis pi_pos : forall a z, 0 <= pi a z.

Lemma share_pos a : 0 <= share lz pi a.
Proof. apply sum_nonneg; auto. Qed.
Lemma cond_pos a : 0 < share lz pi a -> forall z, 0 <= cond lz pi a z.
Proof. intros H z. apply div_nonneg; auto. Qed.
Lemma cond_one a : 0 < share lz pi a -> sum (cond lz pi a) lz = 1.
Proof.
  intros H. unfold cond. transitivity (/ share lz pi a * share lz pi a); [|field; lra].
  unfold share at 3. rewrite <- sum_scal. apply sum_ext; intro z. unfold Rdiv. ring.
Qed.
Lemma mass_shares S : mass la lz pi S = sum (fun a => S a * share lz pi a) la.
Proof. apply sum_ext; intro a. unfold share. apply sum_scal. Qed.
Lemma share_given f a : share lz pi a * given lz pi f a = sum (fun z => pi a z * f a z) lz.
Proof.
  unfold given. rewrite <- sum_scal.
  destruct (Rle_lt_or_eq_dec _ _ (share_pos a)) as [P|P].
  - apply sum_ext; intro z. unfold cond. field. lra.
  - rewrite <- P. apply sum_eq; intros z I. replace (pi a z) with 0; [ring|].
    symmetry. apply (sum_zero_terms (pi a) lz); auto.
Qed.
Lemma chance_average f S :
  chance la lz pi f S = sum (fun a => S a * (share lz pi a * given lz pi f a)) la / mass la lz pi S.
Proof.
  unfold chance. f_equal. apply sum_ext; intro a. rewrite share_given, <- sum_scal.
  apply sum_ext; intro z. ring.
Qed.
(* A record event as an event about the pair. *)
Lemma record_average f S :
  record_chance la lz pi f S
  = sum (fun x => S (fst x) (snd x) * (pi (fst x) (snd x) * f (fst x) (snd x))) (list_prod la lz)
    / sum (fun x => S (fst x) (snd x) * pi (fst x) (snd x)) (list_prod la lz).
Proof.
  unfold record_chance, record_mass. rewrite !sum_list_prod. simpl. f_equal.
  apply sum_ext; intro a. apply sum_ext; intro z. ring.
Qed.
Lemma record_total S :
  record_mass la lz pi S = sum (fun x => S (fst x) (snd x) * pi (fst x) (snd x)) (list_prod la lz).
Proof. unfold record_mass. rewrite sum_list_prod. reflexivity. Qed.

Lemma given_prob {Y} (ly : list Y) mu E a :
  given lz pi (prob ly mu E) a = sum (fun y => E y * given lz pi (fun a z => mu a z y) a) ly.
Proof.
  unfold given, prob.
  transitivity (sum (fun z => sum (fun y => cond lz pi a z * (E y * mu a z y)) ly) lz).
  { apply sum_ext; intro z. symmetry. apply sum_scal. }
  rewrite sum_swap. apply sum_ext; intro y. rewrite <- sum_scal. apply sum_ext; intro z. ring.
Qed.
End Prior.

(* ---- Proposition 1 ---- *)
Section Proposition1.
Context {A Z Y : Type}.
Variables (la : list A) (lz : list Z) (ly : list Y).
Variable mu : A -> Z -> Y -> R.
Variable L : R.

Lemma from_values pi : (forall a z, 0 <= pi a z) ->
  (forall y a a', In y ly -> In a la -> In a' la -> 0 < share lz pi a -> 0 < share lz pi a' ->
     given lz pi (fun a z => mu a z y) a <= L * given lz pi (fun a z => mu a z y) a') ->
  bcdp la lz ly pi mu L.
Proof.
  intros pos H E HE S S' HS HS'. rewrite !chance_average by assumption. rewrite !mass_shares.
  apply from_points; auto using share_pos. intros a a' I I' P P'. rewrite !given_prob.
  apply from_outputs; auto.
Qed.

Hypothesis eqA : forall a a' : A, {a = a'} + {a <> a'}.
Hypothesis eqZ : forall z z' : Z, {z = z'} + {z <> z'}.
Hypothesis eqY : forall y y' : Y, {y = y'} + {y <> y'}.
Hypothesis (na : NoDup la) (nz : NoDup lz) (ny : NoDup ly).

Theorem proposition_1_ldp :
  ldp la lz ly mu L <->
  (forall y a z a' z', In y ly -> In a la -> In z lz -> In a' la -> In z' lz -> mu a z y <= L * mu a' z' y).
Proof.
  split.
  - intros H y a z a' z' Iy I J I' J'. apply (to_outputs ly (mu a z) (mu a' z') L eqY ny); auto.
    intros E HE. apply H; assumption.
  - intros H E HE a z a' z' I J I' J'. apply from_outputs; auto.
Qed.
Theorem proposition_1_cdp :
  cdp la lz ly mu L <->
  (forall y a a' z, In y ly -> In a la -> In a' la -> In z lz -> mu a z y <= L * mu a' z y).
Proof.
  split.
  - intros H y a a' z Iy I I' J. apply (to_outputs ly (mu a z) (mu a' z) L eqY ny); auto.
    intros E HE. apply H; assumption.
  - intros H E HE a a' z I I' J. apply from_outputs; auto.
Qed.
Theorem proposition_1_bdp pi : (forall a z, 0 <= pi a z) ->
  bdp la lz ly pi mu L <->
  (forall y a z a' z', In y ly -> In a la -> In z lz -> In a' la -> In z' lz -> 0 < pi a z -> 0 < pi a' z' ->
     mu a z y <= L * mu a' z' y).
Proof.
  intros pos. split.
  - intros H y a z a' z' Iy I J I' J' P P'.
    set (at_record := fun a z b c => point eqA a b * point eqZ z c).
    assert (at_01 : forall a z b, event (at_record a z b)).
    { intros b c b' c'. unfold at_record. destruct (point_01 eqA b b') as [->| ->]; [lra|].
      destruct (point_01 eqZ c c') as [->| ->]; lra. }
    assert (total : forall g b c, In b la -> In c lz ->
              sum (fun a => sum (fun z => at_record b c a z * g a z) lz) la = g b c).
    { intros g b c Ib Ic. rewrite <- (sum_point eqA (fun a => g a c) la b na Ib). apply sum_ext; intro a1.
      rewrite <- (sum_point eqZ (g a1) lz c nz Ic), <- sum_scal. apply sum_ext; intro z1.
      unfold at_record. ring. }
    assert (at_mass : forall b c, In b la -> In c lz -> record_mass la lz pi (at_record b c) = pi b c)
      by (intros; apply total; assumption).
    assert (at_chance : forall f b c, In b la -> In c lz -> 0 < pi b c ->
              record_chance la lz pi f (at_record b c) = f b c).
    { intros f b c Ib Ic Pb. unfold record_chance. rewrite at_mass by assumption.
      transitivity (sum (fun a => sum (fun z => at_record b c a z * (pi a z * f a z)) lz) la / pi b c).
      - f_equal. apply sum_ext; intro a1. apply sum_ext; intro z1. ring.
      - rewrite total by assumption. field. lra. }
    apply (to_outputs ly (mu a z) (mu a' z') L eqY ny); auto. intros E HE.
    assert (B := H E HE (at_record a z) (at_record a' z') (at_01 a z) (at_01 a' z')).
    rewrite !at_mass, !at_chance in B by assumption. apply B; assumption.
  - intros H E HE S S' HS HS' M M'. rewrite record_total in M, M'. rewrite !record_average.
    apply (from_points (list_prod la lz) (fun x => pi (fst x) (snd x)) L (fun x => pos _ _)
             (fun x => prob ly mu E (fst x) (snd x)) (fun x => prob ly mu E (fst x) (snd x)))
               with (S := fun x => S (fst x) (snd x)) (S' := fun x => S' (fst x) (snd x)); try assumption.
    2: intro x; apply HS.
    2: intro x; apply HS'.
    intros [a z] [a' z'] I I' P P'. apply in_prod_iff in I. apply in_prod_iff in I'. simpl in *.
    apply from_outputs; [|exact HE]. intros y Iy. apply H; tauto.
Qed.
Theorem proposition_1_bcdp pi : (forall a z, 0 <= pi a z) ->
  bcdp la lz ly pi mu L <->
  (forall y a a', In y ly -> In a la -> In a' la -> 0 < share lz pi a -> 0 < share lz pi a' ->
     given lz pi (fun a z => mu a z y) a <= L * given lz pi (fun a z => mu a z y) a').
Proof.
  intros pos. split; [|apply from_values; exact pos].
  intros H y a a' Iy I I' P P'.
  apply (to_outputs ly (fun y => given lz pi (fun a z => mu a z y) a) (fun y => given lz pi (fun a z => mu a z y) a')
           L eqY ny); auto.
  intros E HE. rewrite <- !given_prob. specialize (H E HE).
  apply (to_points la (share lz pi) L eqA (given lz pi (prob ly mu E)) na); auto.
  intros S S' HS HS' M M'. specialize (H S S' HS HS').
  rewrite !chance_average, !mass_shares in H by assumption. auto.
Qed.
End Proposition1.

(* ---- Relations (section 1) ---- *)
Section Relations.
Context {A Z Y : Type}.
Variables (la : list A) (lz : list Z) (ly : list Y).
Variable mu : A -> Z -> Y -> R.
Variable L : R.

Theorem relation_cdp_ldp : ldp la lz ly mu L -> cdp la lz ly mu L.
Proof. intros H E HE a a' z I I' J. apply H; assumption. Qed.
(* BDP, hence BCDP, is at most LDP: events about a feature are events about the record. *)
Theorem relation_bcdp_ldp pi : (forall a z, 0 <= pi a z) -> ldp la lz ly mu L -> bcdp la lz ly pi mu L.
Proof.
  intros pos H E HE S S' HS HS' M M'.
  assert (R : forall T, chance la lz pi (prob ly mu E) T = record_chance la lz pi (prob ly mu E) (fun a _ => T a))
    by reflexivity.
  rewrite !R, !record_average.
  apply (from_points (list_prod la lz) (fun x => pi (fst x) (snd x)) L (fun x => pos _ _)
           (fun x => prob ly mu E (fst x) (snd x)) (fun x => prob ly mu E (fst x) (snd x)))
             with (S := fun x => S (fst x)) (S' := fun x => S' (fst x)).
  2: intro x; apply HS.
  2: intro x; apply HS'.
  2, 3: rewrite sum_list_prod; assumption.
  intros [a z] [a' z'] I I' _ _. apply in_prod_iff in I. apply in_prod_iff in I'. apply H; tauto.
Qed.
End Relations.

Lemma bcdp_larger {A Z Y} (la : list A) (lz : list Z) (ly : list Y) pi mu L L' :
  (forall a z, 0 <= pi a z) -> (forall a z y, 0 <= mu a z y) -> L <= L' ->
  bcdp la lz ly pi mu L -> bcdp la lz ly pi mu L'.
Proof.
  intros pos mupos H B E HE S S' HS HS' M M'. apply Rle_trans with (1 := B E HE S S' HS HS' M M').
  apply Rmult_le_compat_r; [|exact H]. apply div_nonneg; [|exact M'].
  apply sum_nonneg; intros a _. apply sum_nonneg; intros z _.
  apply Rmult_le_pos; [apply Rmult_le_pos; [destruct (HS' a) as [->| ->]; lra | apply pos]|].
  apply sum_nonneg; intros y _. apply Rmult_le_pos; [destruct (HE y) as [->| ->]; lra | apply mupos].
Qed.

(* eps <= c_1 + .. + c_d: records are lists of d values, and L j is the factor of feature number j.
   f is the chance of one output event. *)
Fixpoint product (L : nat -> R) (from count : nat) : R :=
  match count with O => 1 | S n => L from * product L (S from) n end.
Theorem relation_sum {V : Type} (d : nat) (f : list V -> R) (L : nat -> R) :
  (forall j, 0 <= L j) ->
  (forall before v v' after, length (before ++ v :: after) = d ->
     f (before ++ v :: after) <= L (length before) * f (before ++ v' :: after)) ->
  forall x x', length x = d -> length x' = d -> f x <= product L 0 d * f x'.
Proof.
  intros pos one.
  enough (H : forall x x' before, length (before ++ x) = d -> length x = length x' ->
            f (before ++ x) <= product L (length before) (length x) * f (before ++ x')).
  { intros x x' e e'. subst d. apply (H x x' []); auto. }
  induction x as [|v x IH]; intros [|v' x'] before e e'; try discriminate; simpl; [lra|].
  assert (B := one before v v' x e).
  assert (e1 : length ((before ++ [v']) ++ x) = d).
  { rewrite <- e, <- app_assoc, !app_length. reflexivity. }
  assert (C := IH x' (before ++ [v']) e1 (f_equal pred e')). rewrite <- !app_assoc, app_length in C. simpl in C.
  rewrite PeanoNat.Nat.add_1_r in C. apply Rle_trans with (1 := B). rewrite Rmult_assoc.
  apply Rmult_le_compat_l; auto.
Qed.
