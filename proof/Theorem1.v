(* Section 2 of theory.md: the inequality between the notions, that it is tight, and the paper's
   three forms as corollaries. *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums Notions Variation Response.
Open Scope R_scope.

(* An inequality is a formula for e^delta from q, c and eps that holds for every finite mechanism and prior. *)
Definition inequality (bound : R -> R -> R -> R) := forall (A Z Y : Type) (la : list A) (lz : list Z) (ly : list Y)
  (pi : A -> Z -> R) (mu : A -> Z -> Y -> R) (c eps q : R),
  is_prior la lz pi -> 0 <= c -> c <= eps -> 0 <= q <= 1 ->
  ldp la lz ly mu (exp eps) -> cdp la lz ly mu (exp c) -> correlation la lz pi q ->
  bcdp la lz ly pi mu (bound q c eps).

Definition star q c eps := (1 - q) * exp c + q * exp eps.

(* (star) is the certificate (double star) of every output event. *)
Lemma star_certifies {Z} (lz : list Z) (g h : Z -> R) C F q :
  0 <= q <= 1 -> 0 <= C -> C <= F ->
  (forall z, In z lz -> g z <= C * h z) -> (forall z z', In z lz -> In z' lz -> g z <= F * h z') ->
  star2 lz q ((1 - q) * C + q * F) g h.
Proof.
  intros Hq HC HF own all z z' z'' I I' I''.
  set (m := Rmin (h z) (h z'')). set (D := (1 - q) * C + q * F).
  assert (m1 : m <= h z) by apply Rmin_l. assert (m2 : m <= h z'') by apply Rmin_r.
  assert (G : g z' <= F * m) by (unfold m, Rmin; destruct (Rle_dec (h z) (h z'')); auto).
  assert (D0 : 0 <= D) by (apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra).
  assert ((1 - q) * g z <= (1 - q) * (C * h z)) by (apply Rmult_le_compat_l; [lra | auto]).
  assert (q * g z' <= q * (F * m)) by (apply Rmult_le_compat_l; lra).
  assert (0 <= D * (q * (h z'' - m))) by (repeat apply Rmult_le_pos; lra).
  assert (0 <= (1 - q) * q * (F - C) * (h z - m)) by (repeat apply Rmult_le_pos; lra).
  unfold D in *. lra.
Qed.

Theorem theorem_1 : inequality star.
Proof.
  intros A Z Y la lz ly pi mu c eps q [pos _] Hc Hce Hq LDP CDP near E HE S S' HS HS' M M'.
  rewrite !chance_average by exact pos. rewrite !mass_shares in *.
  apply from_points; auto using share_pos. intros a a' I I' P P'.
  assert (C1 := exp_one c Hc). assert (CE := exp_le c eps Hce).
  apply two_laws with q; auto using cond_law.
  - apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
  - apply star_certifies; auto; lra.
Qed.

(* The level is reached, for all c <= eps and q. *)
Theorem theorem_1_tight c eps q : 0 <= c -> c <= eps -> 0 <= q <= 1 ->
  exists (pi : bool -> bool -> R) (mu : bool -> bool -> bool * bool -> R),
  is_prior bits bits pi /\ correlation bits bits pi q /\
  (forall a z y, 0 <= mu a z y) /\ (forall a z, sum (mu a z) two_bits = 1) /\
  ldp bits bits two_bits mu (exp eps) /\ cdp bits bits two_bits mu (exp c) /\
  (forall L, bcdp bits bits two_bits pi mu L <-> star q c eps <= L).
Proof.
  intros Hc Hce Hq. set (second := fun a : bool => if a then q else 0).
  assert (H : forall a, 0 <= second a <= 1) by (intros []; simpl; lra).
  set (pi := bits_prior second). set (mu := two_responses c eps).
  assert (near : correlation bits bits pi q).
  { intros a a' _ _ _ _. unfold tv. simpl. unfold pi. rewrite !bits_cond. unfold Rmin.
    destruct a, a'; simpl; bits_cases. }
  assert (mupos : forall a z y, 0 <= mu a z y) by (intros; left; apply two_responses_pos).
  exists pi, mu. split; [apply bits_is_prior, H|]. split; [exact near|]. split; [exact mupos|].
  split; [apply two_responses_one|]. split; [apply two_responses_ldp; assumption|].
  split; [apply two_responses_cdp; assumption|].
  intros L. split.
  - intros B. apply bits_level in B; auto. simpl in B. rewrite Rmult_0_l, Rplus_0_r, Rmult_1_r in B.
    unfold star. replace (exp eps) with (exp c * exp (eps - c)) by (rewrite <- exp_plus; f_equal; ring). lra.
  - intros B. destruct (bits_is_prior second H) as [pos one].
    apply bcdp_larger with (star q c eps); auto.
    apply theorem_1; try assumption; [split; assumption | apply two_responses_ldp | apply two_responses_cdp];
      assumption.
Qed.

(* q and 1 - q exchanged: false, as proof/wrong/Exchanged.v fails to prove. *)
Theorem exchanged_is_false : ~ inequality (fun q c eps => q * exp c + (1 - q) * exp eps).
Proof.
  intros H.
  destruct (theorem_1_tight 0 1 1) as [pi [mu [pr [near [_ [_ [LDP [CDP level]]]]]]]]; try lra.
  assert (B := H _ _ _ _ _ _ pi mu 0 1 1 pr (Rle_refl 0) (Rlt_le _ _ Rlt_0_1)
                 (conj (Rlt_le _ _ Rlt_0_1) (Rle_refl 1)) LDP CDP near).
  apply level in B. unfold star in B. rewrite exp_0 in B. assert (1 < exp 1) by (generalize (exp_ineq1 1); lra). lra.
Qed.

(* ---- Against the paper ---- *)
Definition sum_form q c s := c + ln (1 - q + q * exp s).
Definition ldp_form q c eps := Rmin (sum_form q c eps) eps.

Lemma spread_pos q s : 0 <= q <= 1 -> 0 < 1 - q + q * exp s.
Proof.
  intros Hq. assert (P := exp_pos s). destruct (Req_dec q 0) as [->|n]; [lra|].
  assert (0 < q * exp s) by (apply Rmult_lt_0_compat; lra). lra.
Qed.
Lemma exp_sum_form q c s : 0 <= q <= 1 -> exp (sum_form q c s) = star q c (c + s).
Proof.
  intros Hq. unfold sum_form, star. rewrite exp_plus, exp_ln by (apply spread_pos, Hq). rewrite exp_plus. ring.
Qed.
Lemma star_below_eps q c eps : 0 <= q <= 1 -> c <= eps -> star q c eps <= exp eps.
Proof.
  intros Hq H. unfold star. assert (B := exp_le c eps H).
  assert (0 <= (1 - q) * (exp eps - exp c)) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma star_increases q c eps eps' : 0 <= q -> eps <= eps' -> star q c eps <= star q c eps'.
Proof.
  intros Hq H. unfold star. apply Rplus_le_compat_l, Rmult_le_compat_l; [exact Hq | apply exp_le, H].
Qed.
Theorem star_never_larger q c eps s : 0 <= q <= 1 -> 0 <= c -> c <= eps -> eps <= c + s ->
  star q c eps <= exp (sum_form q c s) /\ star q c eps <= exp (ldp_form q c eps).
Proof.
  intros Hq Hc H Hs. split.
  - rewrite exp_sum_form by exact Hq. apply star_increases; lra.
  - unfold ldp_form, Rmin. destruct (Rle_dec (sum_form q c eps) eps); [|apply star_below_eps; assumption].
    rewrite exp_sum_form by exact Hq. apply star_increases; lra.
Qed.

Section Paper.
Context {A Z Y : Type} (la : list A) (lz : list Z) (ly : list Y).
Variables (pi : A -> Z -> R) (mu : A -> Z -> Y -> R) (c q : R).
Hypothesis prior : is_prior la lz pi.
Hypothesis mu_pos : forall a z y, 0 <= mu a z y.
Hypothesis c_pos : 0 <= c.
Hypothesis q_01 : 0 <= q <= 1.
Hypothesis CDP : cdp la lz ly mu (exp c).
Hypothesis near : correlation la lz pi q.

Theorem paper_ldp_form eps : c <= eps -> ldp la lz ly mu (exp eps) -> bcdp la lz ly pi mu (exp (ldp_form q c eps)).
Proof.
  intros Hce LDP. destruct prior as [pos one]. apply bcdp_larger with (star q c eps); auto.
  - apply star_never_larger with (s := eps); lra.
  - apply theorem_1; auto.
Qed.

(* s: what changing all other features costs, at most the sum of their c_j (`Notions.relation_sum`) *)
Variable s : R.
Hypothesis s_pos : 0 <= s.
Hypothesis others : forall E, event E -> forall a z z', In a la -> In z lz -> In z' lz ->
  prob ly mu E a z <= exp s * prob ly mu E a z'.

Theorem paper_sum_form : bcdp la lz ly pi mu (exp (sum_form q c s)).
Proof.
  rewrite exp_sum_form by exact q_01. apply theorem_1; auto; [lra|].
  intros E HE a z a' z' I J I' J'. apply Rle_trans with (exp c * prob ly mu E a' z); [apply CDP; assumption|].
  rewrite exp_plus, Rmult_assoc. apply Rmult_le_compat_l; [left; apply exp_pos | apply others; assumption].
Qed.
End Paper.

(* The linear constraint. exp is convex between 0 and t: *)
Lemma exp_chord u t : 0 <= u <= 1 -> exp (u * t) <= 1 - u + u * exp t.
Proof.
  intros Hu. set (p := exp (u * t)). assert (P : 0 < p) by apply exp_pos.
  assert (a : 1 - u * t <= / p).
  { unfold p. rewrite <- exp_Ropp. generalize (exp_ineq1_le (- (u * t))). lra. }
  assert (b : (1 + (1 - u) * t) * p <= exp t).
  { replace (exp t) with (exp ((1 - u) * t) * p) by (unfold p; rewrite <- exp_plus; f_equal; ring).
    apply Rmult_le_compat_r; [lra | apply exp_ineq1_le]. }
  assert (a' : (1 - u * t) * p <= 1).
  { apply Rmult_le_reg_r with (/ p); [apply Rinv_0_lt_compat, P|].
    rewrite Rmult_assoc, Rinv_r by lra. lra. }
  assert ((1 - u) * ((1 - u * t) * p) <= (1 - u) * 1) by (apply Rmult_le_compat_l; lra).
  assert (u * ((1 + (1 - u) * t) * p) <= u * exp t) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Definition limit q delta := ln (1 + (exp delta - 1) / q).

Theorem paper_linear_constraint q c s delta : 0 < q <= 1 -> 0 < delta -> 0 <= c -> 0 <= s ->
  c / delta + s / limit q delta <= 1 -> sum_form q c s <= delta.
Proof.
  intros Hq Hd Hc Hs H.
  assert (E1 : 1 < exp delta) by (generalize (exp_ineq1 delta); lra).
  assert (B0 : 0 < (exp delta - 1) / q) by (apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; lra]).
  set (B := 1 + (exp delta - 1) / q). set (l := limit q delta) in *.
  assert (eB : exp l = B) by (apply exp_ln; unfold B; lra).
  assert (qB : 1 - q + q * B = exp delta) by (unfold B; field; lra).
  assert (l0 : 0 < l).
  { unfold l, limit. rewrite <- ln_1. apply ln_increasing; lra. }
  set (u := 1 - c / delta).
  assert (cd : c = (1 - u) * delta) by (unfold u; field; lra).
  assert (c0 : 0 <= c / delta) by (apply div_nonneg; assumption).
  assert (s0 : 0 <= s / l) by (apply div_nonneg; assumption).
  assert (su : s <= u * l).
  { apply Rmult_le_reg_r with (/ l); [apply Rinv_0_lt_compat, l0|].
    replace (u * l * / l) with u by (field; lra). unfold u. unfold Rdiv in *. lra. }
  assert (u01 : 0 <= u <= 1) by (unfold u; lra).
  (* 1^u and B^u, at a distance of the mean e^delta *)
  assert (K : 1 - q + q * exp s <= exp (u * delta)).
  { assert (k1 := exp_chord u (- delta) u01). assert (k2 := exp_chord u (l - delta) u01).
    assert (S : exp s <= exp (u * l)) by (apply exp_le, su).
    assert (m : (1 - q) * exp (u * - delta) + q * exp (u * (l - delta)) <= 1).
    { assert ((1 - q) * exp (u * - delta) <= (1 - q) * (1 - u + u * exp (- delta))) by (apply Rmult_le_compat_l; lra).
      assert (q * exp (u * (l - delta)) <= q * (1 - u + u * exp (l - delta))) by (apply Rmult_le_compat_l; lra).
      assert (e : (1 - q) * exp (- delta) + q * exp (l - delta) = 1).
      { unfold Rminus at 2. rewrite exp_plus, eB, exp_Ropp.
        apply Rmult_eq_reg_r with (exp delta); [|lra].
        transitivity (1 - q + q * B); [field; lra | rewrite qB; ring]. }
      assert (u * ((1 - q) * exp (- delta) + q * exp (l - delta)) = u) by (rewrite e; ring). lra. }
    assert (P := exp_pos (u * delta)).
    apply Rle_trans with (((1 - q) * exp (u * - delta) + q * exp (u * (l - delta))) * exp (u * delta)).
    - rewrite Rmult_plus_distr_r, !Rmult_assoc, <- !exp_plus.
      replace (u * - delta + u * delta) with 0 by ring. replace (u * (l - delta) + u * delta) with (u * l) by ring.
      rewrite exp_0. assert (q * exp s <= q * exp (u * l)) by (apply Rmult_le_compat_l; lra). lra.
    - rewrite <- (Rmult_1_l (exp (u * delta))) at 2. apply Rmult_le_compat_r; lra. }
  unfold sum_form. assert (ln (1 - q + q * exp s) <= u * delta).
  { rewrite <- (ln_exp (u * delta)). destruct (Rle_lt_or_eq_dec _ _ K) as [k| ->]; [|lra].
    left. apply ln_increasing; [apply spread_pos; lra | exact k]. }
  lra.
Qed.

(* Each part of the constraint by itself does not suffice, as proof/wrong/Linear.v fails to prove. *)
Theorem linear_without_constraint_is_false :
  ~ (forall q c s delta, 0 < q <= 1 -> 0 < delta -> 0 <= c -> 0 <= s ->
       c / delta <= 1 /\ s / limit q delta <= 1 -> sum_form q c s <= delta).
Proof.
  intros H. assert (B := H 1 1 1 1). unfold limit, sum_form in B.
  replace (1 + (exp 1 - 1) / 1) with (exp 1) in B by field. replace (1 - 1 + 1 * exp 1) with (exp 1) in B by ring.
  rewrite ln_exp in B. lra.
Qed.

(* The limit on eps that also protects a feature that is never asked. *)
Theorem solved_for_budget q delta eps : 0 < q < 1 -> 0 <= delta ->
  (eps <= limit q delta <-> 1 <= (exp delta - q * exp eps) / (1 - q)) /\
  (0 < (exp delta - q * exp eps) / (1 - q) -> star q (ln ((exp delta - q * exp eps) / (1 - q))) eps = exp delta).
Proof.
  intros Hq Hd. assert (E1 := exp_one delta Hd).
  assert (X0 : 0 <= (exp delta - 1) / q) by (apply div_nonneg; lra). split; [split|].
  - intros H. apply exp_le in H. unfold limit in H. rewrite exp_ln in H by lra.
    assert (H1 : q * exp eps <= q * (1 + (exp delta - 1) / q)) by (apply Rmult_le_compat_l; lra).
    replace (q * (1 + (exp delta - 1) / q)) with (q + exp delta - 1) in H1 by (field; lra).
    apply Rmult_le_reg_r with (1 - q); [lra|].
    replace ((exp delta - q * exp eps) / (1 - q) * (1 - q)) with (exp delta - q * exp eps) by (field; lra). lra.
  - intros H.
    assert (B : 1 * (1 - q) <= (exp delta - q * exp eps) / (1 - q) * (1 - q)) by (apply Rmult_le_compat_r; lra).
    replace ((exp delta - q * exp eps) / (1 - q) * (1 - q)) with (exp delta - q * exp eps) in B by (field; lra).
    assert (H1 : exp eps <= 1 + (exp delta - 1) / q).
    { apply Rmult_le_reg_l with q; [lra|].
      replace (q * (1 + (exp delta - 1) / q)) with (q + exp delta - 1) by (field; lra). lra. }
    rewrite <- (ln_exp eps). unfold limit.
    destruct (Rle_lt_or_eq_dec _ _ H1) as [k| ->]; [left; apply ln_increasing; [apply exp_pos | exact k] | lra].
  - intros H. unfold star. rewrite exp_ln by exact H. field. lra.
Qed.
