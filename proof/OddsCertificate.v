(* The exact certificate of a table, where the prior is bounded by odds K and by total variation q (Odds.v).
   With A = min(q/(K - 1), 1/(K + 1)) and C = 1 - (K + 1) A, for all values z1, z2, z3 of the others and z:
     A K f(a,z1) + A f(a,z2) + C f(a,z3) <= D (A f(a',z1) + A K f(a',z2) + C f(a',z3))   and   f(a,z) <= D f(a',z). *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums Notions Variation Certificate Odds.
Open Scope R_scope.

Section OneOutput.
Context {Z : Type} (lz : list Z).
Definition ray (q K : R) := Rmin (q / (K - 1)) (1 / (K + 1)).
Definition rest (q K : R) := 1 - (K + 1) * ray q K.
Definition star2_odds (q K D : R) (g h : Z -> R) :=
  (forall z1 z2 z3, In z1 lz -> In z2 lz -> In z3 lz ->
     ray q K * K * g z1 + ray q K * g z2 + rest q K * g z3
     <= D * (ray q K * h z1 + ray q K * K * h z2 + rest q K * h z3)) /\
  (forall z, In z lz -> g z <= D * h z).

Section Ray.
Variables q K : R.
Hypothesis (Hq : 0 <= q) (HK : 1 < K).
Lemma ray_pos : 0 <= ray q K.
Proof. apply Rmin_glb; apply div_nonneg; lra. Qed.
Lemma ray_q : (K - 1) * ray q K <= q.
Proof.
  apply Rle_trans with ((K - 1) * (q / (K - 1))); [|right; field; lra].
  apply Rmult_le_compat_l; [lra | apply Rmin_l].
Qed.
Lemma rest_pos : 0 <= rest q K.
Proof.
  unfold rest. assert ((K + 1) * ray q K <= 1); [|lra].
  apply Rle_trans with ((K + 1) * (1 / (K + 1))); [|right; field; lra].
  apply Rmult_le_compat_l; [lra | apply Rmin_r].
Qed.
Lemma ray_largest x : (K - 1) * x <= q -> (K + 1) * x <= 1 -> x <= ray q K.
Proof.
  intros H1 H2. apply Rmin_glb.
  - apply Rmult_le_reg_l with (K - 1); [lra|]. replace ((K - 1) * (q / (K - 1))) with q by (field; lra). exact H1.
  - apply Rmult_le_reg_l with (K + 1); [lra|]. replace ((K + 1) * (1 / (K + 1))) with 1 by (field; lra). exact H2.
Qed.
End Ray.

Lemma two_laws_odds q K D g h P Q :
  0 <= q -> 1 < K -> star2_odds q K D g h -> is_law lz P -> is_law lz Q -> within_odds lz q K P Q ->
  sum (fun z => P z * g z) lz <= D * sum (fun z => Q z * h z) lz.
Proof.
  intros Hq HK [cert same] LP LQ [TV [PQ QP]]. destruct (law_inhabited lz P LP) as [z0 I0].
  destruct LP as [HP SP], LQ as [HQ SQ].
  (* (P, Q) = al (K, 1) + be (1, K) + ga (1, 1), point by point *)
  set (N := fun z => Rmin (P z) (Q z)).
  set (al := fun z => / (K - 1) * (P z - N z)). set (be := fun z => / (K - 1) * (Q z - N z)).
  set (ga := fun z => N z - (al z + be z)).
  assert (iK : 0 < / (K - 1)) by (apply Rinv_0_lt_compat; lra).
  assert (al0 : forall z, 0 <= al z).
  { intro z. apply Rmult_le_pos; [lra|]. unfold N. generalize (Rmin_l (P z) (Q z)). lra. }
  assert (be0 : forall z, 0 <= be z).
  { intro z. apply Rmult_le_pos; [lra|]. unfold N. generalize (Rmin_r (P z) (Q z)). lra. }
  assert (ga0 : forall z, In z lz -> 0 <= ga z).
  { intros z I. specialize (PQ z I). specialize (QP z I). unfold ga, al, be.
    apply Rmult_le_reg_l with (K - 1); [lra|]. rewrite Rmult_0_r.
    replace ((K - 1) * (N z - (/ (K - 1) * (P z - N z) + / (K - 1) * (Q z - N z))))
      with ((K + 1) * N z - P z - Q z) by (field; lra).
    unfold N, Rmin. destruct (Rle_dec (P z) (Q z)); lra. }
  assert (Pe : forall z, P z = K * al z + be z + ga z) by (intro z; unfold ga, al, be; field; lra).
  assert (Qe : forall z, Q z = al z + K * be z + ga z) by (intro z; unfold ga, al, be; field; lra).
  (* total masses *)
  unfold tv in TV. fold N in TV. set (x := sum al lz).
  assert (xe : x = / (K - 1) * (1 - sum N lz)) by (unfold x, al; rewrite sum_scal, sum_minus, SP; ring).
  assert (xb : sum be lz = x) by (rewrite xe; unfold be; rewrite sum_scal, sum_minus, SQ; ring).
  assert (xk : (K - 1) * x = 1 - sum N lz) by (rewrite xe; field; lra).
  assert (xg : sum ga lz = 1 - (K + 1) * x) by (unfold ga; rewrite sum_minus, sum_plus, xb; fold x; lra).
  assert (x0 : 0 <= x) by (apply sum_nonneg; auto).
  assert (xr : x <= ray q K).
  { apply ray_largest; [exact HK | lra|]. assert (0 <= sum ga lz) by (apply sum_nonneg; auto). lra. }
  (* the worst point of each ray *)
  destruct (argmax (fun z => K * g z - D * h z) lz z0 I0) as [z1 [I1 M1]].
  destruct (argmax (fun z => g z - D * (K * h z)) lz z0 I0) as [z2 [I2 M2]].
  destruct (argmax (fun z => g z - D * h z) lz z0 I0) as [z3 [I3 M3]]. simpl in M1, M2, M3.
  set (m1 := K * g z1 - D * h z1) in *. set (m2 := g z2 - D * (K * h z2)) in *. set (m3 := g z3 - D * h z3) in *.
  assert (up : sum (fun z => P z * g z) lz + (- D) * sum (fun z => Q z * h z) lz
               <= x * m1 + x * m2 + (1 - (K + 1) * x) * m3).
  { apply Rle_trans with (sum (fun z => m1 * al z + m2 * be z + m3 * ga z) lz).
    - rewrite <- sum_scal, <- sum_plus. apply sum_le; intros z I. rewrite Pe, Qe.
      assert (0 <= al z * (m1 - (K * g z - D * h z))) by (apply Rmult_le_pos; [auto | specialize (M1 z I); lra]).
      assert (0 <= be z * (m2 - (g z - D * (K * h z)))) by (apply Rmult_le_pos; [auto | specialize (M2 z I); lra]).
      assert (0 <= ga z * (m3 - (g z - D * h z))) by (apply Rmult_le_pos; [auto | specialize (M3 z I); lra]).
      lra.
    - rewrite !sum_plus, !sum_scal, xb, xg. fold x. lra. }
  assert (c0 : m3 <= 0) by (unfold m3; specialize (same z3 I3); lra).
  assert (c1 : ray q K * m1 + ray q K * m2 + rest q K * m3 <= 0)
    by (unfold m1, m2, m3; specialize (cert z1 z2 z3 I1 I2 I3); lra).
  (* linear in x, and at most 0 at x = 0 and at x = ray *)
  assert (fin : x * m1 + x * m2 + (1 - (K + 1) * x) * m3 <= 0).
  { destruct (Req_dec (ray q K) 0) as [r0|r0]; [replace x with 0 by lra; lra|].
    apply Rmult_le_reg_l with (ray q K); [lra|]. rewrite Rmult_0_r.
    assert (0 <= x * - (ray q K * m1 + ray q K * m2 + rest q K * m3)) by (apply Rmult_le_pos; lra).
    assert (0 <= (ray q K - x) * - m3) by (apply Rmult_le_pos; lra).
    unfold rest in *. lra. }
  lra.
Qed.
End OneOutput.

Section OddsCertificate.
Context {A Z Y : Type} (la : list A) (lz : list Z) (ly : list Y).
Variable mu : A -> Z -> Y -> R.
Variables q K D : R.
Hypothesis mu_pos : forall a z y, 0 <= mu a z y.
Hypothesis q_pos : 0 <= q.
Hypothesis K_one : 1 < K.
Hypothesis D_one : 1 <= D.
Hypothesis eqA : forall a a' : A, {a = a'} + {a <> a'}.
Definition certified_odds := forall y a a', In y ly -> In a la -> In a' la -> a <> a' ->
  star2_odds lz q K D (fun z => mu a z y) (fun z => mu a' z y).

Theorem odds_certificate : certified_odds ->
  forall pi, is_prior la lz pi -> within la lz pi (within_odds lz q K) -> bcdp la lz ly pi mu D.
Proof.
  intros cert pi [pos _] near. apply different_values; auto. intros y a a' Iy I I' n P P'.
  unfold given. apply two_laws_odds with q K; auto using cond_law.
Qed.

Hypothesis eqZ : forall z z' : Z, {z = z'} + {z <> z'}.
Hypothesis eqY : forall y y' : Y, {y = y'} + {y <> y'}.
Hypothesis (na : NoDup la) (nz : NoDup lz) (ny : NoDup ly).
Let mix := mix3 eqZ.

Theorem odds_certificate_attained : certified_odds <->
  (forall pi, is_prior la lz pi -> within la lz pi (within_odds lz q K) -> bcdp la lz ly pi mu D).
Proof.
  assert (r0 := ray_pos q K q_pos K_one). assert (rq := ray_q q K K_one). assert (c0 := rest_pos q K K_one).
  assert (self : forall P, is_law lz P -> within_odds lz q K P P).
  { intros P L. split; [rewrite tv_same; assumption|]. destruct L as [pos _].
    split; intros z _; (assert (0 <= (K - 1) * P z) by (apply Rmult_le_pos; [lra | auto])); lra. }
  split; [exact odds_certificate|].
  intros H y a a' Iy I I' n. split.
  - intros z1 z2 z3 I1 I2 I3. set (r := ray q K) in *. set (c := rest q K) in *.
    assert (tot : r * K + r + c = 1) by (unfold c, rest; fold r; ring).
    assert (rK : 0 <= (K - 1) * r) by (apply Rmult_le_pos; lra).
    assert (rKK : 0 <= (K - 1) * (r * K)) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]).
    assert (cK : 0 <= (K - 1) * c) by (apply Rmult_le_pos; lra).
    set (P := mix (r * K) z1 r z2 c z3). set (Q := mix r z1 (r * K) z2 c z3).
    assert (LP : is_law lz P) by (apply mix3_law; auto; lra).
    assert (LQ : is_law lz Q) by (apply mix3_law; auto; lra).
    assert (TV : tv lz P Q <= q).
    { apply Rle_trans with (1 - sum (mix r z1 r z2 c z3) lz).
      - apply tv_common; intro; apply mix3_le; lra.
      - unfold mix. rewrite mix3_total; auto; lra. }
    assert (scal : forall x1 x2 x3 z, K * mix x1 z1 x2 z2 x3 z3 z = mix (K * x1) z1 (K * x2) z2 (K * x3) z3 z)
      by (intros; unfold mix, mix3; ring).
    assert (PQ : forall z, P z <= K * Q z) by (intro; unfold P, Q; rewrite scal; apply mix3_le; lra).
    assert (QP : forall z, Q z <= K * P z) by (intro; unfold P, Q; rewrite scal; apply mix3_le; lra).
    assert (wPQ : within_odds lz q K P Q) by (repeat split; auto).
    assert (wQP : within_odds lz q K Q P) by (repeat split; auto; rewrite tv_sym; exact TV).
    assert (B := from_priors la lz ly mu D eqA eqY na ny (within_odds lz q K) P Q y a a' H Iy I I' n LP LQ
                   (self P LP) (self Q LQ) wPQ wQP).
    unfold P, Q, mix in B. rewrite !mix3_sum in B by assumption. lra.
  - intros z Iz. set (P := mix 1 z 0 z 0 z).
    assert (LP : is_law lz P) by (apply mix3_law; auto; lra).
    assert (B := from_priors la lz ly mu D eqA eqY na ny (within_odds lz q K) P P y a a' H Iy I I' n LP LP
                   (self P LP) (self P LP) (self P LP) (self P LP)).
    unfold P, mix in B. rewrite !mix3_sum in B by assumption. lra.
Qed.
End OddsCertificate.

(* Values that share levels: all pairs of levels, as in Theorem 4. *)
Section OddsLevels.
Context {V W A Z Y : Type} (lv : list V) (lw : list W) (la : list A) (lz : list Z) (ly : list Y).
Variables (pi : V -> W -> R) (rho : V -> A -> R) (sigma : W -> Z -> R) (f : A -> Z -> Y -> R) (q K D : R).
Hypothesis rho_pos : forall v a, 0 <= rho v a.
Hypothesis rho_one : forall v, In v lv -> sum (rho v) la = 1.
Hypothesis sigma_pos : forall w z, 0 <= sigma w z.
Hypothesis sigma_one : forall w, In w lw -> sum (sigma w) lz = 1.

Lemma pushed_odds P Q : within_odds lw q K P Q -> within_odds lz q K (pushed lw sigma P) (pushed lw sigma Q).
Proof.
  intros [TV [PQ QP]].
  split; [apply Rle_trans with (1 := proposition_2_processing lw lz sigma sigma_pos sigma_one P Q), TV|].
  split; intros z _; unfold pushed; rewrite <- sum_scal; apply sum_le; intros w I;
    rewrite <- Rmult_assoc; (apply Rmult_le_compat_r; auto).
Qed.
Theorem odds_certificate_levels : is_prior lv lw pi -> 0 <= q -> 1 < K ->
  (forall y a a', In y ly -> In a la -> In a' la -> star2_odds lz q K D (fun z => f a z y) (fun z => f a' z y)) ->
  within lv lw pi (within_odds lw q K) -> bcdp lv lw ly pi (coded la lz rho sigma f) D.
Proof.
  intros [pos _] Hq HK cert near. apply from_values; [exact pos|]. intros y v v' Iy I I' P P'.
  assert (split_levels : forall x, given lw pi (fun v w => coded la lz rho sigma f v w y) x
            = sum (fun a => rho x a * sum (fun z => seen lw pi sigma x z * f a z y) lz) la).
  { intro x. transitivity (sum (fun z => seen lw pi sigma x z * sum (fun a => rho x a * f a z y) la) lz).
    - symmetry. apply sum_seen.
    - transitivity (sum (fun z => sum (fun a => rho x a * (seen lw pi sigma x z * f a z y)) la) lz).
      + apply sum_ext; intro z. rewrite <- sum_scal. apply sum_ext; intro a. ring.
      + rewrite sum_swap. apply sum_ext; intro a. apply sum_scal. }
  rewrite !split_levels. apply mixtures; auto. intros a a' J J'.
  apply two_laws_odds with q K; auto; try (apply pushed_law; auto using cond_law).
  apply pushed_odds, near; assumption.
Qed.
End OddsLevels.
