(* Odds: a second way to bound how far the other features go with feature i. K = e^kappa is how far everything else
   about a person, if it were known, could move the odds of a guess about x_i: P(z | a) <= K P(z | a') for all z.
   An eps-LDP mechanism that is c-CDP in feature i then has
     e^delta = e^c (1 + X),   1/X = 1/(q (E - 1)) + 1/(K - 1),   E = e^(eps - c),   q = min(q_i, tanh(kappa/2)),
   and this is tight. *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums Notions Variation Response Certificate.
Open Scope R_scope.

Definition within_odds {Z} (lz : list Z) (q K : R) (P Q : Z -> R) :=
  tv lz P Q <= q /\ (forall z, In z lz -> P z <= K * Q z) /\ (forall z, In z lz -> Q z <= K * P z).

Definition gain q E K := q * (E - 1) * (K - 1) / ((K - 1) + q * (E - 1)).
Definition q_odds q kappa := Rmin q (tanh (kappa / 2)).
Definition star_odds q kappa c eps := exp c * (1 + gain (q_odds q kappa) (exp (eps - c)) (exp kappa)).

(* The formula of the text, wherever it divides by something positive. *)
Lemma gain_inverse q E K : 0 < q -> 1 < E -> 1 < K -> / gain q E K = / (q * (E - 1)) + / (K - 1).
Proof.
  intros Hq HE HK. unfold gain. assert (0 < q * (E - 1)) by (apply Rmult_lt_0_compat; lra). field. repeat split; lra.
Qed.

Section Gain.
Variables q E K : R.
Hypothesis (Hq : 0 <= q) (HE : 1 <= E) (HK : 1 <= K).
Let w := q * (E - 1).
Lemma w_pos : 0 <= w.
Proof. apply Rmult_le_pos; lra. Qed.
Lemma gain_eq : gain q E K * ((K - 1) + w) = w * (K - 1).
Proof.
  assert (W := w_pos). unfold gain. fold w.
  destruct (Req_dec ((K - 1) + w) 0) as [H|H]; [|field; exact H].
  replace (K - 1) with 0 by lra. replace w with 0 by lra. lra.
Qed.
Lemma gain_one : K = 1 -> gain q E K = 0.
Proof. intros ->. unfold gain, Rdiv. ring. Qed.
Lemma gain_pos : 0 <= gain q E K.
Proof.
  assert (W := w_pos). unfold gain. fold w.
  destruct (Req_dec ((K - 1) + w) 0) as [H|H].
  - replace (K - 1) with 0 by lra. unfold Rdiv. lra.
  - apply div_nonneg; [apply Rmult_le_pos; lra | lra].
Qed.
Lemma gain_le : gain q E K <= K - 1.
Proof.
  assert (W := w_pos). destruct (Req_dec K 1) as [H|H]; [rewrite gain_one; lra|].
  apply Rmult_le_reg_r with ((K - 1) + w); [lra|]. rewrite gain_eq.
  assert (0 <= (K - 1) * (K - 1)) by (apply Rmult_le_pos; lra). lra.
Qed.
End Gain.

Lemma tanh_half k : (exp k - 1) / (exp k + 1) = tanh (k / 2).
Proof.
  unfold tanh, sinh, cosh.
  assert (Hk : exp k = exp (k / 2) * exp (k / 2)) by (rewrite <- exp_plus; f_equal; field).
  rewrite Hk, exp_Ropp. assert (P := exp_pos (k / 2)).
  assert (0 < exp (k / 2) * exp (k / 2)) by (apply Rmult_lt_0_compat; exact P).
  field. repeat split; lra.
Qed.
Lemma q_odds_pos q kappa : 0 <= q -> 0 <= kappa -> 0 <= q_odds q kappa.
Proof.
  intros Hq Hk. apply Rmin_glb; [assumption|]. rewrite <- tanh_half. assert (H := exp_one kappa Hk).
  apply div_nonneg; lra.
Qed.

(* Odds bound total variation. *)
Theorem odds_bound_variation {Z} (lz : list Z) (P Q : Z -> R) kappa :
  0 <= kappa -> is_law lz P -> is_law lz Q ->
  (forall z, In z lz -> P z <= exp kappa * Q z) -> (forall z, In z lz -> Q z <= exp kappa * P z) ->
  tv lz P Q <= tanh (kappa / 2).
Proof.
  intros Hk [_ SP] [_ SQ] PQ QP. assert (HK := exp_one kappa Hk). rewrite <- tanh_half. unfold tv.
  set (K := exp kappa) in *. set (N := fun z => Rmin (P z) (Q z)).
  assert (H : sum (fun z => P z + Q z) lz <= sum (fun z => (K + 1) * N z) lz).
  { apply sum_le; intros z I. specialize (PQ z I). specialize (QP z I). unfold N, Rmin.
    destruct (Rle_dec (P z) (Q z)); lra. }
  rewrite sum_plus, sum_scal, SP, SQ in H.
  apply Rmult_le_reg_r with (K + 1); [lra|].
  replace ((K - 1) / (K + 1) * (K + 1)) with (K - 1) by (field; lra). lra.
Qed.

(* Two laws, and a function l between m and E m. *)
Lemma odds_two_laws {Z} (lz : list Z) (P Q l : Z -> R) (K E m q : R) :
  is_law lz P -> is_law lz Q -> 1 <= K -> 1 <= E -> 0 <= m -> 0 <= q ->
  (forall z, In z lz -> P z <= K * Q z) -> (forall z, In z lz -> m <= l z <= E * m) -> tv lz P Q <= q ->
  sum (fun z => P z * l z) lz <= (1 + gain q E K) * sum (fun z => Q z * l z) lz.
Proof.
  intros [HP SP] [HQ SQ] HK HE Hm Hq PQ Hl TV.
  destruct (Req_dec K 1) as [K1|K1].
  { rewrite gain_one by assumption. rewrite Rplus_0_r, Rmult_1_l. apply sum_le; intros z I.
    apply Rmult_le_compat_r; [specialize (Hl z I); lra | specialize (PQ z I); subst K; lra]. }
  assert (X0 := gain_pos q E K Hq HE HK). assert (XK := gain_le q E K Hq HE HK).
  assert (XE := gain_eq q E K Hq HE HK). set (X := gain q E K) in *.
  set (d := fun z => P z - Rmin (P z) (Q z)).       (* the positive part of P - Q *)
  set (Y := 1 - X / (K - 1)).
  assert (XY : X = Y * (q * (E - 1))).
  { apply Rmult_eq_reg_r with (K - 1); [|lra]. unfold Y.
    replace ((1 - X / (K - 1)) * (q * (E - 1)) * (K - 1)) with (q * (E - 1) * (K - 1) - X * (q * (E - 1)))
      by (field; lra). lra. }
  assert (Y0 : 0 <= Y).
  { unfold Y. apply Rmult_le_reg_r with (K - 1); [lra|].
    replace ((1 - X / (K - 1)) * (K - 1)) with (K - 1 - X) by (field; lra). lra. }
  assert (sd : sum d lz <= q) by (unfold d; rewrite sum_minus, SP; exact TV).
  (* point by point, P - (1 + X) Q <= Y d; times l - m <= (E - 1) m *)
  assert (pt : forall z, In z lz ->
            P z * l z <= (1 + X) * (Q z * l z) + ((- X * m) * Q z + m * (P z - Q z)) + (Y * ((E - 1) * m)) * d z).
  { intros z I. specialize (PQ z I). destruct (Hl z I) as [L1 L2].
    assert (d0 : 0 <= d z) by (unfold d; generalize (Rmin_l (P z) (Q z)); lra).
    assert (d1 : P z - Q z <= d z) by (unfold d; generalize (Rmin_r (P z) (Q z)); lra).
    assert (d2 : d z <= (K - 1) * Q z).
    { unfold d, Rmin. destruct (Rle_dec (P z) (Q z)); [|lra].
      assert (0 <= (K - 1) * Q z) by (apply Rmult_le_pos; [lra | auto]). lra. }
    assert (B : P z - (1 + X) * Q z <= Y * d z).
    { assert (H : 0 <= X / (K - 1) * ((K - 1) * Q z - d z))
        by (apply Rmult_le_pos; [apply div_nonneg; lra | lra]).
      replace (X / (K - 1) * ((K - 1) * Q z - d z)) with (X * Q z - X / (K - 1) * d z) in H by (field; lra).
      unfold Y. lra. }
    assert (B1 : (P z - (1 + X) * Q z) * (l z - m) <= Y * d z * (l z - m)) by (apply Rmult_le_compat_r; lra).
    assert (B2 : Y * d z * (l z - m) <= Y * d z * ((E - 1) * m)).
    { apply Rmult_le_compat_l; [apply Rmult_le_pos; assumption | lra]. }
    lra. }
  apply Rle_trans with (1 := sum_le _ _ _ pt).
  rewrite !sum_plus, !sum_scal, sum_minus, SP, SQ.
  assert (Y * ((E - 1) * m) * sum d lz <= Y * ((E - 1) * m) * q).
  { apply Rmult_le_compat_l; [|exact sd]. apply Rmult_le_pos; [exact Y0 | apply Rmult_le_pos; lra]. }
  assert (Y * ((E - 1) * m) * q = X * m) by (rewrite XY; ring). lra.
Qed.

(* u and l: chances of an output with u <= C l, m <= l and u <= F m. *)
Lemma odds_core {Z} (lz : list Z) (P Q u l : Z -> R) (C F K m q : R) :
  is_law lz P -> is_law lz Q -> 1 <= K -> 0 <= m -> 1 <= C -> C <= F -> 0 <= q ->
  (forall z, In z lz -> P z <= K * Q z) -> (forall z, In z lz -> m <= l z) ->
  (forall z, In z lz -> u z <= C * l z) -> (forall z, In z lz -> u z <= F * m) -> tv lz P Q <= q ->
  sum (fun z => P z * u z) lz <= C * (1 + gain q (F / C) K) * sum (fun z => Q z * l z) lz.
Proof.
  intros LP LQ HK Hm HC HF Hq PQ Hl Hu HuF TV.
  set (E := F / C). assert (CE : F = C * E) by (unfold E; field; lra).
  assert (E1 : 1 <= E) by (apply Rmult_le_reg_l with C; lra).
  set (l' := fun z => Rmin (l z) (E * m)).
  assert (Em : m <= E * m) by (assert (0 <= (E - 1) * m) by (apply Rmult_le_pos; lra); lra).
  assert (H : sum (fun z => P z * l' z) lz <= (1 + gain q E K) * sum (fun z => Q z * l' z) lz).
  { apply odds_two_laws with m; auto. intros z I. unfold l'. split; [apply Rmin_glb; auto | apply Rmin_r]. }
  destruct LP as [HP SP], LQ as [HQ SQ].
  assert (U : sum (fun z => P z * u z) lz <= C * sum (fun z => P z * l' z) lz).
  { rewrite <- sum_scal. apply sum_le; intros z I.
    replace (C * (P z * l' z)) with (P z * (C * l' z)) by ring. apply Rmult_le_compat_l; [auto|].
    specialize (Hu z I). specialize (HuF z I). unfold l', Rmin.
    destruct (Rle_dec (l z) (E * m)); [lra|]. rewrite CE in HuF. lra. }
  assert (L : sum (fun z => Q z * l' z) lz <= sum (fun z => Q z * l z) lz).
  { apply sum_le; intros z I. apply Rmult_le_compat_l; [auto | apply Rmin_l]. }
  assert (G := gain_pos q E K Hq E1 HK).
  apply Rle_trans with (1 := U). rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|].
  apply Rle_trans with (1 := H). apply Rmult_le_compat_l; lra.
Qed.

Theorem odds_theorem {A Z Y} (la : list A) (lz : list Z) (ly : list Y) pi mu c eps q kappa :
  is_prior la lz pi -> (forall a z y, 0 <= mu a z y) -> 0 <= c -> c <= eps -> 0 <= q -> 0 <= kappa ->
  ldp la lz ly mu (exp eps) -> cdp la lz ly mu (exp c) -> within la lz pi (within_odds lz q (exp kappa)) ->
  bcdp la lz ly pi mu (star_odds q kappa c eps).
Proof.
  intros [pos _] mupos Hc Hce Hq Hk LDP CDP near E HE S S' HS HS' M M'.
  rewrite !chance_average by exact pos. rewrite !mass_shares in *.
  apply from_points; auto using share_pos. intros a a' I I' P P'.
  destruct (near a a' I I' P P') as [TV [PQ QP]].
  assert (HZ : exists z, In z lz) by (apply (sum_pos_inhabited (pi a)); exact P). destruct HZ as [z0 J0].
  destruct (argmin (prob ly mu E a') lz z0 J0) as [zm [Jm least]].
  unfold star_odds. replace (exp (eps - c)) with (exp eps / exp c).
  2: { unfold Rminus, Rdiv. rewrite exp_plus, exp_Ropp. reflexivity. }
  unfold given. apply odds_core with (prob ly mu E a' zm); auto using cond_law, exp_one, exp_le, q_odds_pos.
  - apply sum_nonneg; intros y _. apply Rmult_le_pos; [destruct (HE y) as [->| ->]; lra | auto].
  - apply Rmin_glb; [exact TV|]. apply odds_bound_variation; auto using cond_law.
Qed.

Theorem odds_theorem_tight c eps q kappa : 0 <= c -> c <= eps -> 0 < kappa -> 0 <= q -> q <= tanh (kappa / 2) ->
  exists (pi : bool -> bool -> R) (mu : bool -> bool -> bool * bool -> R),
  is_prior bits bits pi /\ within bits bits pi (within_odds bits q (exp kappa)) /\
  (forall a z y, 0 <= mu a z y) /\ (forall a z, sum (mu a z) two_bits = 1) /\
  ldp bits bits two_bits mu (exp eps) /\ cdp bits bits two_bits mu (exp c) /\
  (forall L, bcdp bits bits two_bits pi mu L <-> star_odds q kappa c eps <= L).
Proof.
  intros Hc Hce Hk Hq Ht. assert (K1 : 1 < exp kappa) by (generalize (exp_ineq1 kappa); lra).
  set (K := exp kappa) in *. set (s := q / (K - 1)).
  assert (s0 : 0 <= s) by (apply div_nonneg; lra).
  assert (sq : (K - 1) * s = q) by (unfold s; field; lra).
  assert (s1 : (K + 1) * s <= 1).
  { rewrite <- tanh_half in Ht. fold K in Ht. apply Rmult_le_reg_l with (K - 1); [lra|].
    replace ((K - 1) * ((K + 1) * s)) with (q * (K + 1)) by (rewrite <- sq; ring).
    apply Rle_trans with ((K - 1) / (K + 1) * (K + 1)); [apply Rmult_le_compat_r; lra | right; field; lra]. }
  assert (Ks : 0 <= (K - 1) * s) by lra.
  set (second := fun a : bool => if a then K * s else s).
  assert (H : forall a, 0 <= second a <= 1) by (intros []; simpl; lra).
  destruct (bits_is_prior second H) as [pos one].
  assert (near : within bits bits (bits_prior second) (within_odds bits q K)).
  { assert (0 <= (K - 1) * ((K - 1) * s)) by (apply Rmult_le_pos; lra).
    assert (0 <= (K - 1) * (1 - (K + 1) * s)) by (apply Rmult_le_pos; lra).
    intros a a' _ _ _ _. split; [|split].
    - unfold tv. simpl. rewrite !bits_cond. unfold Rmin. destruct a, a'; simpl; bits_cases.
    - intros z _. rewrite !bits_cond. destruct a, a', z; simpl; lra.
    - intros z _. rewrite !bits_cond. destruct a, a', z; simpl; lra. }
  exists (bits_prior second), (two_responses c eps).
  assert (mupos : forall a z y, 0 <= two_responses c eps a z y) by (intros; left; apply two_responses_pos).
  split; [split; assumption|]. split; [exact near|]. split; [exact mupos|]. split; [apply two_responses_one|].
  split; [apply two_responses_ldp; assumption|]. split; [apply two_responses_cdp; assumption|].
  intros L. split.
  - intros B. apply bits_level in B; [|exact H]. simpl in B.
    unfold star_odds, q_odds. rewrite Rmin_left by exact Ht. fold K.
    assert (E1 : 1 <= exp (eps - c)) by (apply exp_one; lra). set (E := exp (eps - c)) in *.
    assert (0 <= q * (E - 1)) by (apply Rmult_le_pos; lra).
    assert (0 <= s * (E - 1)) by (apply Rmult_le_pos; lra).
    apply Rmult_le_reg_r with (1 + s * (E - 1)); [lra|].
    replace (exp c * (1 + gain q E K) * (1 + s * (E - 1))) with (exp c * (1 + K * s * (E - 1))); [exact B|].
    unfold gain, s. field. repeat split; lra.
  - intros B. apply bcdp_larger with (star_odds q kappa c eps); auto.
    apply odds_theorem; auto; try lra; [split; assumption | apply two_responses_ldp | apply two_responses_cdp];
      assumption.
Qed.
