(* Two bits, and randomized response about each, independently: the examples behind "tight". *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums Notions Variation.
Open Scope R_scope.

Definition bits := [false; true].
Definition two_bits := list_prod bits bits.
Definition bits_dec : forall x y : bool, {x = y} + {x <> y} := Bool.bool_dec.
Definition two_bits_dec : forall x y : bool * bool, {x = y} + {x <> y}.
Proof. decide equality; apply bits_dec. Defined.
Lemma bits_nodup : NoDup bits.
Proof. repeat constructor; simpl; intuition discriminate. Qed.
Lemma two_bits_nodup : NoDup two_bits.
Proof. repeat constructor; simpl; intuition discriminate. Qed.
Lemma in_bits x : In x bits.
Proof. destruct x; simpl; auto. Qed.
Lemma in_two_bits x : In x two_bits.
Proof. destruct x as [[] []]; simpl; auto. Qed.

(* a goal with minima of numbers *)
Ltac bits_cases := repeat match goal with |- context [Rle_dec ?x ?y] => destruct (Rle_dec x y) end; lra.

(* randomized response at level t *)
Definition response t (x y : bool) := (if Bool.eqb x y then exp t else 1) / (1 + exp t).

Lemma response_pos t x y : 0 < response t x y.
Proof.
  unfold response. assert (P := exp_pos t). apply Rmult_lt_0_compat; [destruct (Bool.eqb x y); lra|].
  apply Rinv_0_lt_compat. lra.
Qed.
Lemma response_one t x : sum (response t x) bits = 1.
Proof. unfold response. assert (P := exp_pos t). destruct x; simpl; field; lra. Qed.
Lemma response_ratio t x x' y : 0 <= t -> response t x y <= exp t * response t x' y.
Proof.
  intros Ht. unfold response. assert (E := exp_one t Ht).
  replace (exp t * ((if Bool.eqb x' y then exp t else 1) / (1 + exp t)))
    with ((exp t * (if Bool.eqb x' y then exp t else 1)) / (1 + exp t)) by (field; lra).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
  assert (exp t * 1 <= exp t * exp t) by (apply Rmult_le_compat_l; lra).
  destruct (Bool.eqb x y), (Bool.eqb x' y); lra.
Qed.

(* level c about the first bit, eps - c about the second *)
Definition two_responses c eps (a z : bool) (y : bool * bool) :=
  response c a (fst y) * response (eps - c) z (snd y).

Section TwoResponses.
Variables c eps : R.
Hypothesis c_pos : 0 <= c.
Hypothesis c_eps : c <= eps.
Let mu := two_responses c eps.

Lemma two_responses_pos a z y : 0 < mu a z y.
Proof. apply Rmult_lt_0_compat; apply response_pos. Qed.
Lemma two_responses_one a z : sum (mu a z) two_bits = 1.
Proof.
  unfold mu, two_responses, two_bits. rewrite sum_list_prod. simpl fst. simpl snd.
  rewrite <- sum_prod, !response_one. ring.
Qed.
Lemma two_responses_cdp : cdp bits bits two_bits mu (exp c).
Proof.
  intros E HE a a' z _ _ _. apply from_outputs; [|exact HE]. intros y _. unfold mu, two_responses.
  rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [left; apply response_pos | apply response_ratio, c_pos].
Qed.
Lemma two_responses_ldp : ldp bits bits two_bits mu (exp eps).
Proof.
  intros E HE a z a' z' _ _ _ _. apply from_outputs; [|exact HE]. intros y _. unfold mu, two_responses.
  replace (exp eps) with (exp c * exp (eps - c)) by (rewrite <- exp_plus; f_equal; ring).
  replace (exp c * exp (eps - c) * (response c a' (fst y) * response (eps - c) z' (snd y)))
    with ((exp c * response c a' (fst y)) * (exp (eps - c) * response (eps - c) z' (snd y))) by ring.
  apply Rmult_le_compat; try (left; apply response_pos); apply response_ratio; lra.
Qed.
(* The first bit is fair; `second a` is the chance that the second is true. The output (true, true). *)
Variable second : bool -> R.
Definition bits_prior (a z : bool) := / 2 * (if z then second a else 1 - second a).
Lemma bits_share a : share bits bits_prior a = / 2.
Proof. unfold share, bits_prior. simpl. lra. Qed.
Lemma bits_cond a z : cond bits bits_prior a z = if z then second a else 1 - second a.
Proof. unfold cond. rewrite bits_share. unfold bits_prior. field. Qed.
Lemma bits_is_prior : (forall a, 0 <= second a <= 1) -> is_prior bits bits bits_prior.
Proof.
  intros H. split.
  - intros a z. unfold bits_prior. specialize (H a). apply Rmult_le_pos; [lra|]. destruct z; lra.
  - unfold bits_prior. simpl. lra.
Qed.
Lemma bits_given a : given bits bits_prior (fun a z => mu a z (true, true)) a
  = response c a true * (1 + second a * (exp (eps - c) - 1)) / (1 + exp (eps - c)).
Proof.
  assert (P := exp_pos (eps - c)). unfold given. simpl. rewrite !bits_cond. unfold mu, two_responses. simpl.
  unfold response at 2 4. simpl. field. lra.
Qed.
(* Two factors e^c and (1 + s (E - 1))/(1 + s' (E - 1)), s and s' the chances given true and false. *)
Lemma bits_level L : (forall a, 0 <= second a <= 1) -> bcdp bits bits two_bits bits_prior mu L ->
  exp c * (1 + second true * (exp (eps - c) - 1)) <= L * (1 + second false * (exp (eps - c) - 1)).
Proof.
  intros H B. destruct (bits_is_prior H) as [pos _].
  assert (half : forall a, 0 < share bits bits_prior a) by (intro a; rewrite bits_share; lra).
  assert (R : given bits bits_prior (fun a z => mu a z (true, true)) true
           <= L * given bits bits_prior (fun a z => mu a z (true, true)) false).
  { apply (proposition_1_bcdp bits bits two_bits mu L bits_dec two_bits_dec bits_nodup two_bits_nodup
             bits_prior pos); auto using in_bits, in_two_bits. }
  rewrite !bits_given in R. unfold response in R. simpl in R.
  assert (P := exp_pos c). assert (P' := exp_pos (eps - c)).
  set (E := exp (eps - c)) in *. set (C := exp c) in *.
  apply Rmult_le_reg_r with (/ ((1 + C) * (1 + E))).
  { apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra. }
  replace (C * (1 + second true * (E - 1)) * / ((1 + C) * (1 + E)))
    with (C / (1 + C) * (1 + second true * (E - 1)) / (1 + E)) by (field; lra).
  replace (L * (1 + second false * (E - 1)) * / ((1 + C) * (1 + E)))
    with (L * (1 / (1 + C) * (1 + second false * (E - 1)) / (1 + E))) by (field; lra).
  exact R.
Qed.
End TwoResponses.
