(* q and odds together (Theorems 3, 8 and 9 in one form). Two laws P and Q of the others within both bounds have three
   parts: one of which P has `most` and Q has `least`, one the other way round, and one, `common`, that is the same. *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums Notions Variation Certificate Odds OddsCertificate.
Open Scope R_scope.

Section Parts.
Context {Z : Type} (lz : list Z).
(* None: no limit on the odds *)
Definition near (q : R) (K : option R) (P Q : Z -> R) :=
  match K with None => tv lz P Q <= q | Some K => within_odds lz q K P Q end.
Definition part_masses (q : R) (K : option R) (most least common : R) :=
  match K with
  | None => most = q /\ least = 0 /\ common = 1 - q
  | Some K => (K = 1 /\ most = 0 /\ least = 0 /\ common = 1) \/
              (1 < K /\ most = ray q K * K /\ least = ray q K /\ common = rest q K)
  end.
Definition parts_certify (most least common D : R) (g h : Z -> R) :=
  forall z1 z2 z3, In z1 lz -> In z2 lz -> In z3 lz ->
  most * g z1 + least * g z2 + common * g z3 <= D * (least * h z1 + most * h z2 + common * h z3).
Definition compares (q : R) (K : option R) (D : R) (g h : Z -> R) :=
  forall P Q, is_law lz P -> is_law lz Q -> near q K P Q ->
  sum (fun z => P z * g z) lz <= D * sum (fun z => Q z * h z) lz.

Lemma parts_compare q K most least common D g h : 0 <= q <= 1 -> 0 <= D -> part_masses q K most least common ->
  parts_certify most least common D g h -> compares q K D g h.
Proof.
  intros Hq HD M cert P Q LP LQ N. destruct K as [K|]; simpl in M, N.
  - destruct M as [[-> [-> [-> ->]]]|[HK [-> [-> ->]]]].
    + destruct N as [_ [PQ QP]]. rewrite <- sum_scal. apply sum_le; intros z I.
      assert (e : P z = Q z) by (specialize (PQ z I); specialize (QP z I); lra).
      assert (c := cert z z z I I I). assert (H : g z <= D * h z) by lra. rewrite e.
      replace (D * (Q z * h z)) with (Q z * (D * h z)) by ring. apply Rmult_le_compat_l; [apply LQ | exact H].
    + apply two_laws_odds with q K; auto; [lra|]. split; [exact cert|]. intros z I. assert (c := cert z z z I I I).
      unfold rest in c. set (r := ray q K) in *.
      replace (r * K * g z + r * g z + (1 - (K + 1) * r) * g z) with (g z) in c by ring.
      replace (r * h z + r * K * h z + (1 - (K + 1) * r) * h z) with (h z) in c by ring. exact c.
  - destruct M as [-> [-> ->]]. apply two_laws with q; auto. intros z z' z'' I I' I''.
    assert (c := cert z' z'' z I' I'' I). lra.
Qed.

Lemma compares_ext q K D g h g' h' : (forall z, In z lz -> g z = g' z) -> (forall z, In z lz -> h z = h' z) ->
  compares q K D g h -> compares q K D g' h'.
Proof.
  intros eg eh H P Q LP LQ N. specialize (H P Q LP LQ N).
  rewrite (sum_eq (fun z => P z * g' z) (fun z => P z * g z)) by (intros z I; rewrite eg by exact I; reflexivity).
  rewrite (sum_eq (fun z => Q z * h' z) (fun z => Q z * h z)) by (intros z I; rewrite eh by exact I; reflexivity).
  exact H.
Qed.
Lemma compares_mixed {A} (la : list A) (f f' : A -> Z -> R) q K D (r r' : A -> R) :
  (forall a, 0 <= r a) -> (forall a, 0 <= r' a) -> sum r la = 1 -> sum r' la = 1 ->
  (forall a a', In a la -> In a' la -> compares q K D (f a) (f' a')) ->
  compares q K D (fun z => sum (fun a => r a * f a z) la) (fun z => sum (fun a => r' a * f' a z) la).
Proof.
  intros pos pos' one one' H P Q LP LQ N.
  assert (swap : forall (L : Z -> R) (s : A -> R) (x : A -> Z -> R),
            sum (fun z => L z * sum (fun a => s a * x a z) la) lz
            = sum (fun a => s a * sum (fun z => L z * x a z) lz) la).
  { intros L s x. transitivity (sum (fun z => sum (fun a => s a * (L z * x a z)) la) lz).
    - apply sum_ext; intro z. rewrite <- sum_scal. apply sum_ext; intro a. ring.
    - rewrite sum_swap. apply sum_ext; intro a. apply sum_scal. }
  rewrite !swap. apply (mixtures la (fun a => sum (fun z => P z * f a z) lz) (fun a => sum (fun z => Q z * f' a z) lz));
    auto.
  intros a a' I I'. apply H; assumption.
Qed.
Lemma compares_scaled q K D g h r m : 0 <= r -> 0 <= m -> compares q K D g h ->
  compares q K (r * D) (fun z => r * m * g z) (fun z => m * h z).
Proof.
  intros Hr Hm H P Q LP LQ N. specialize (H P Q LP LQ N).
  rewrite (sum_ext (fun z => P z * (r * m * g z)) (fun z => r * m * (P z * g z))) by (intro; ring).
  rewrite (sum_ext (fun z => Q z * (m * h z)) (fun z => m * (Q z * h z))) by (intro; ring). rewrite !sum_scal.
  assert (0 <= r * m * (D * sum (fun z => Q z * h z) lz - sum (fun z => P z * g z) lz)).
  { apply Rmult_le_pos; [apply Rmult_le_pos; assumption | lra]. }
  lra.
Qed.

(* ---- Beside other questions, whose answers h have chances between m and r m ---- *)
Definition heard_most r M := Rmax M (r * M).
Lemma heard_facts r m s M h : 1 <= r -> 0 <= m -> m <= h <= r * m -> s <= M -> s * h <= m * heard_most r M.
Proof.
  intros Hr Hm [h1 h2] H. apply Rle_trans with (M * h); [apply Rmult_le_compat_r; lra|]. unfold heard_most.
  destruct (Rle_dec 0 M) as [p|n].
  - apply Rle_trans with (m * (r * M)); [|apply Rmult_le_compat_l; [exact Hm | apply Rmax_r]].
    replace (m * (r * M)) with (M * (r * m)) by ring. apply Rmult_le_compat_l; assumption.
  - apply Rle_trans with (m * M); [|apply Rmult_le_compat_l; [exact Hm | apply Rmax_l]].
    assert (0 <= (h - m) * - M) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma parts_beside most least common D r m (g g' h : Z -> R) M1 M2 M3 :
  1 <= r -> 0 <= m -> (forall z, In z lz -> m <= h z <= r * m) ->
  (forall z, In z lz -> most * g z - D * (least * g' z) <= M1) ->
  (forall z, In z lz -> least * g z - D * (most * g' z) <= M2) ->
  (forall z, In z lz -> common * g z - D * (common * g' z) <= M3) ->
  heard_most r M1 + heard_most r M2 + heard_most r M3 <= 0 ->
  parts_certify most least common D (fun z => g z * h z) (fun z => g' z * h z).
Proof.
  intros Hr Hm hm H1 H2 H3 total z1 z2 z3 I1 I2 I3.
  assert (b1 := heard_facts r m _ M1 (h z1) Hr Hm (hm z1 I1) (H1 z1 I1)).
  assert (b2 := heard_facts r m _ M2 (h z2) Hr Hm (hm z2 I2) (H2 z2 I2)).
  assert (b3 := heard_facts r m _ M3 (h z3) Hr Hm (hm z3 I3) (H3 z3 I3)).
  assert (0 <= m * - (heard_most r M1 + heard_most r M2 + heard_most r M3)) by (apply Rmult_le_pos; lra). lra.
Qed.

(* Other questions alone: Theorem 8 with c = 0. *)
Lemma rest_certifies most least common r S m h :
  most + least + common = 1 -> 0 <= least -> least <= most -> 0 <= common -> 1 <= r -> 0 <= m ->
  S * (1 + least * (r - 1)) = 1 + most * (r - 1) -> (forall z, In z lz -> m <= h z <= r * m) ->
  parts_certify most least common S h h.
Proof.
  intros one l0 lm c0 Hr Hm HS hm z1 z2 z3 I1 I2 I3.
  destruct (hm z1 I1) as [_ h1]. destruct (hm z2 I2) as [h2 _]. destruct (hm z3 I3) as [h3 _].
  assert (lr : 0 <= least * (r - 1)) by (apply Rmult_le_pos; lra).
  assert (mr : least * (r - 1) <= most * (r - 1)) by (apply Rmult_le_compat_r; lra).
  assert (S1 : 1 <= S) by (apply Rmult_le_reg_r with (1 + least * (r - 1)); lra).
  assert (a1 : 0 <= most - S * least).
  { apply Rmult_le_reg_r with (1 + least * (r - 1)); [lra|]. rewrite Rmult_0_l.
    replace ((most - S * least) * (1 + least * (r - 1)))
      with (most * (1 + least * (r - 1)) - least * (S * (1 + least * (r - 1)))) by ring. rewrite HS. lra. }
  assert (a2 : 0 <= S * most - least) by (assert (0 <= (S - 1) * most) by (apply Rmult_le_pos; lra); lra).
  assert (a3 : 0 <= (S - 1) * common) by (apply Rmult_le_pos; lra).
  assert (p1 : 0 <= (most - S * least) * (r * m - h z1)) by (apply Rmult_le_pos; lra).
  assert (p2 : 0 <= (S * most - least) * (h z2 - m)) by (apply Rmult_le_pos; lra).
  assert (p3 : 0 <= (S - 1) * common * (h z3 - m)) by (apply Rmult_le_pos; lra).
  assert (e : most * (r * m) + least * m + common * m - S * (least * (r * m) + most * m + common * m) = 0).
  { replace common with (1 - most - least) by lra.
    replace (most * (r * m) + least * m + (1 - most - least) * m
             - S * (least * (r * m) + most * m + (1 - most - least) * m))
      with (m * ((1 + most * (r - 1)) - S * (1 + least * (r - 1)))) by ring. rewrite HS. ring. }
  lra.
Qed.
End Parts.

(* ---- What a device sees of the others ---- *)
Section Seen.
Context {V W Z : Type} (lv : list V) (lw : list W) (lz : list Z).
Variables (pi : V -> W -> R) (sigma : W -> Z -> R).
Hypothesis pi_pos : forall v w, 0 <= pi v w.
Hypothesis sigma_pos : forall w z, 0 <= sigma w z.
Hypothesis sigma_one : forall w, In w lw -> sum (sigma w) lz = 1.
Definition seen_within q K := within lv lw pi (fun P Q => near lz q K (pushed lw sigma P) (pushed lw sigma Q)).

(* Whatever is seen of the others is within the bounds that hold for them. *)
Lemma within_seen q K : within lv lw pi (near lw q K) -> seen_within q K.
Proof.
  intros H v v' I I' P P'. specialize (H v v' I I' P P'). destruct K as [K|]; simpl in *.
  - apply (pushed_odds lw lz sigma q K sigma_pos sigma_one), H.
  - apply Rle_trans with (2 := H). apply proposition_2_processing; assumption.
Qed.
Lemma seen_compare f F G q K D v v' : 0 <= D -> seen_within q K ->
  In v lv -> In v' lv -> 0 < share lw pi v -> 0 < share lw pi v' ->
  (forall w, In w lw -> f v w <= sum (fun z => sigma w z * F z) lz) ->
  (forall w, In w lw -> sum (fun z => sigma w z * G z) lz <= f v' w) ->
  compares lz q K D F G ->
  given lw pi f v <= D * given lw pi f v'.
Proof.
  intros HD H I I' P P' up down cert.
  apply Rle_trans with (sum (fun z => seen lw pi sigma v z * F z) lz).
  { rewrite sum_seen. apply sum_le; intros w J. apply Rmult_le_compat_l; [apply cond_pos; assumption | auto]. }
  apply Rle_trans with (D * sum (fun z => seen lw pi sigma v' z * G z) lz).
  - apply cert; [apply pushed_law | apply pushed_law | apply H]; auto using cond_law.
  - apply Rmult_le_compat_l; [exact HD|]. rewrite sum_seen. apply sum_le; intros w J.
    apply Rmult_le_compat_l; [apply cond_pos; assumption | auto].
Qed.

(* Questions of ratio r that read the feature, beside others h of which (1, S) is certified. *)
Lemma own_beside_rest own h m r S q K v v' :
  (forall v w, In v lv -> In w lw -> m <= own v w <= r * m) -> (forall z, In z lz -> 0 <= h z) ->
  0 <= m -> 1 <= r -> 0 <= S -> seen_within q K -> compares lz q K S h h ->
  In v lv -> In v' lv -> 0 < share lw pi v -> 0 < share lw pi v' ->
  given lw pi (fun v w => own v w * sum (fun z => sigma w z * h z) lz) v
  <= r * S * given lw pi (fun v w => own v w * sum (fun z => sigma w z * h z) lz) v'.
Proof.
  intros between h0 Hm Hr HS H cert I I' P P'.
  assert (S0 : forall w, In w lw -> 0 <= sum (fun z => sigma w z * h z) lz).
  { intros w J. apply sum_nonneg; intros z J'. apply Rmult_le_pos; auto. }
  apply (seen_compare _ (fun z => r * m * h z) (fun z => m * h z) q K); auto.
  - apply Rmult_le_pos; lra.
  - intros w J.
    rewrite (sum_ext (fun z => sigma w z * (r * m * h z)) (fun z => r * m * (sigma w z * h z))) by (intro; ring).
    rewrite sum_scal. apply Rmult_le_compat_r; [auto | apply between; assumption].
  - intros w J. rewrite (sum_ext (fun z => sigma w z * (m * h z)) (fun z => m * (sigma w z * h z))) by (intro; ring).
    rewrite sum_scal. apply Rmult_le_compat_r; [auto | apply between; assumption].
  - apply compares_scaled; auto; lra.
Qed.
End Seen.
