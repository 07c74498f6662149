(* Total variation (section 1 of theory.md, Correlation), and the inequality between two laws
   from which Theorems 1, 3 and 4 follow. *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums Notions.
Open Scope R_scope.

Section Variation.
Context {Z : Type} (lz : list Z).

Definition is_law (P : Z -> R) := (forall z, 0 <= P z) /\ sum P lz = 1.
Definition tv (P Q : Z -> R) := 1 - sum (fun z => Rmin (P z) (Q z)) lz.

Lemma law_inhabited P : is_law P -> exists z, In z lz.
Proof. intros [_ H]. apply (sum_pos_inhabited P). lra. Qed.
Lemma tv_sym P Q : tv P Q = tv Q P.
Proof. unfold tv. f_equal. apply sum_ext; intro z. apply Rmin_comm. Qed.
Lemma tv_same P : is_law P -> tv P P = 0.
Proof.
  intros [_ SP]. unfold tv. rewrite (sum_ext _ P), SP; [ring|].
  intro z. unfold Rmin. destruct (Rle_dec (P z) (P z)); reflexivity.
Qed.
(* a common part N bounds the total variation *)
Lemma tv_common P Q N : (forall z, N z <= P z) -> (forall z, N z <= Q z) -> tv P Q <= 1 - sum N lz.
Proof.
  intros NP NQ. unfold tv.
  assert (sum N lz <= sum (fun z => Rmin (P z) (Q z)) lz); [|lra].
  apply sum_le; intros z _. apply Rmin_glb; auto.
Qed.

(* It is the largest difference between the two chances of an event. *)
Lemma tv_largest P Q : is_law P -> is_law Q ->
  (forall phi : Z -> R, (forall z, 0 <= phi z <= 1) ->
     sum (fun z => P z * phi z) lz - sum (fun z => Q z * phi z) lz <= tv P Q) /\
  (exists S : Z -> R, event S /\ sum (fun z => P z * S z) lz - sum (fun z => Q z * S z) lz = tv P Q).
Proof.
  intros [HP SP] [HQ SQ].
  assert (D : tv P Q = sum (fun z => P z - Rmin (P z) (Q z)) lz) by (rewrite sum_minus, SP; reflexivity).
  split.
  - intros phi H. rewrite D, <- sum_minus. apply sum_le; intros z _.
    assert (L := Rmin_l (P z) (Q z)). assert (G := Rmin_r (P z) (Q z)). destruct (H z) as [H0 H1].
    assert (0 <= (1 - phi z) * (P z - Rmin (P z) (Q z))) by (apply Rmult_le_pos; lra).
    assert (0 <= phi z * (Q z - Rmin (P z) (Q z))) by (apply Rmult_le_pos; lra). lra.
  - exists (fun z => if Rle_dec (P z) (Q z) then 0 else 1). split.
    + intro z. destruct (Rle_dec (P z) (Q z)); auto.
    + rewrite D, <- sum_minus. apply sum_ext; intro z. unfold Rmin. destruct (Rle_dec (P z) (Q z)); ring.
Qed.

(* ---- The inequality between two laws ---- *)
(* (double star) of section 4, for one output: g and h are its chances over z at two levels of the feature *)
Definition star2 (q D : R) (g h : Z -> R) :=
  forall z z' z'', In z lz -> In z' lz -> In z'' lz ->
  (1 - q) * g z + q * g z' <= D * ((1 - q) * h z + q * h z'').

Lemma star2_larger q D D' g h : 0 <= q <= 1 -> D <= D' -> (forall z, In z lz -> 0 <= h z) ->
  star2 q D g h -> star2 q D' g h.
Proof.
  intros Hq HD pos H z z' z'' I I' I''. apply Rle_trans with (1 := H z z' z'' I I' I'').
  apply Rmult_le_compat_r; [|exact HD].
  assert (0 <= (1 - q) * h z) by (apply Rmult_le_pos; [lra | auto]).
  assert (0 <= q * h z'') by (apply Rmult_le_pos; [lra | auto]). lra.
Qed.

Lemma two_laws q D g h P Q :
  0 <= q <= 1 -> 0 <= D -> star2 q D g h -> is_law P -> is_law Q -> tv P Q <= q ->
  sum (fun z => P z * g z) lz <= D * sum (fun z => Q z * h z) lz.
Proof.
  intros Hq HD cert LP LQ TV. destruct (law_inhabited P LP) as [z0 I0].
  destruct LP as [HP SP], LQ as [HQ SQ].
  destruct (argmax g lz z0 I0) as [zt [It top]]. destruct (argmin h lz z0 I0) as [zb [Ib bot]].
  set (N := fun z => Rmin (P z) (Q z)).
  assert (N0 : forall z, 0 <= N z) by (intro z; apply Rmin_glb; auto).
  assert (NP : forall z, N z <= P z) by (intro z; apply Rmin_l).
  assert (NQ : forall z, N z <= Q z) by (intro z; apply Rmin_r).
  unfold tv in TV. fold N in TV. set (n := sum N lz) in *.            (* n = 1 - tau *)
  assert (n1 : n <= 1) by (rewrite <- SP; apply sum_le; auto).
  assert (n0 : 0 <= n) by (apply sum_nonneg; auto).
  (* tau in the place of q *)
  assert (ct : forall z, In z lz -> n * g z + (1 - n) * g zt <= D * (n * h z + (1 - n) * h zb)).
  { intros z I. assert (C := cert z zt zb I It Ib).
    assert (0 <= (q - (1 - n)) * (g zt - g z)) by (apply Rmult_le_pos; [lra | specialize (top z I); lra]).
    assert (0 <= D * ((q - (1 - n)) * (h z - h zb))).
    { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [lra | specialize (bot z I); lra]. }
    lra. }
  set (G := sum (fun z => N z * g z) lz). set (H := sum (fun z => N z * h z) lz).
  (* averaged over the common mass *)
  assert (av : G + (1 - n) * g zt <= D * (H + (1 - n) * h zb)).
  { destruct (Rle_lt_or_eq_dec _ _ n0) as [np|nz].
    - apply Rmult_le_reg_l with n; [exact np|].
      assert (S : sum (fun z => n * (N z * g z) + (1 - n) * g zt * N z) lz
               <= sum (fun z => D * (n * (N z * h z) + (1 - n) * h zb * N z)) lz).
      { apply sum_le; intros z I. assert (C := ct z I).
        assert (0 <= N z * (D * (n * h z + (1 - n) * h zb) - (n * g z + (1 - n) * g zt)))
          by (apply Rmult_le_pos; [auto | lra]). lra. }
      rewrite sum_scal, !sum_plus, !sum_scal in S. fold G H n in S. lra.
    - assert (Nz : forall z, In z lz -> N z = 0) by (apply sum_zero_terms; auto).
      assert (empty : forall k : Z -> R, sum (fun z => N z * k z) lz = 0).
      { intro k. rewrite <- (sum_zero lz). apply sum_eq; intros z I. rewrite Nz by exact I. ring. }
      assert (C := ct z0 I0). unfold G, H. rewrite !empty. rewrite <- nz in *. lra. }
  assert (up : sum (fun z => P z * g z) lz <= G + (1 - n) * g zt).
  { apply Rle_trans with (sum (fun z => N z * g z + g zt * (P z - N z)) lz).
    - apply sum_le; intros z I.
      assert (0 <= (P z - N z) * (g zt - g z)).
      { apply Rmult_le_pos; [specialize (NP z); lra | specialize (top z I); lra]. } lra.
    - rewrite sum_plus, sum_scal, sum_minus, SP. fold G n. lra. }
  assert (down : H + (1 - n) * h zb <= sum (fun z => Q z * h z) lz).
  { apply Rle_trans with (sum (fun z => N z * h z + h zb * (Q z - N z)) lz).
    - rewrite sum_plus, sum_scal, sum_minus, SQ. fold H n. lra.
    - apply sum_le; intros z I.
      assert (0 <= (Q z - N z) * (h z - h zb)).
      { apply Rmult_le_pos; [specialize (NQ z); lra | specialize (bot z I); lra]. } lra. }
  apply Rle_trans with (1 := up). apply Rle_trans with (1 := av).
  apply Rmult_le_compat_l; assumption.
Qed.
End Variation.

(* ---- The correlation of a prior, and Proposition 2 ---- *)
Definition within {A Z} (la : list A) (lz : list Z) (pi : A -> Z -> R) (near : (Z -> R) -> (Z -> R) -> Prop) :=
  forall a a', In a la -> In a' la -> 0 < share lz pi a -> 0 < share lz pi a' ->
  near (cond lz pi a) (cond lz pi a').
Definition correlation {A Z} (la : list A) (lz : list Z) pi q := within la lz pi (fun P Q => tv lz P Q <= q).

Lemma cond_law {A Z} (lz : list Z) (pi : A -> Z -> R) a :
  (forall a z, 0 <= pi a z) -> 0 < share lz pi a -> is_law lz (cond lz pi a).
Proof. intros H P. split; [apply cond_pos; assumption | apply cond_one; assumption]. Qed.

(* the law of the others given an event *)
Definition law {A Z} (la : list A) (lz : list Z) (pi : A -> Z -> R) (S : A -> R) z :=
  sum (fun a => S a * pi a z) la / mass la lz pi S.

Section Proposition2.
Context {A Z : Type} (la : list A) (lz : list Z) (pi : A -> Z -> R).
Hypothesis pi_pos : forall a z, 0 <= pi a z.

Lemma sum_law (S : A -> R) (phi : Z -> R) :
  sum (fun z => law la lz pi S z * phi z) lz = chance la lz pi (fun _ z => phi z) S.
Proof.
  unfold chance, Rdiv. rewrite sum_swap, (Rmult_comm _ (/ _)), <- sum_scal. apply sum_ext; intro z.
  unfold law, Rdiv. rewrite (Rmult_comm (_ * _) (phi z)), <- Rmult_assoc, <- sum_scal, Rmult_comm.
  f_equal. apply sum_ext; intro a. ring.
Qed.
Lemma law_is_law S : event S -> 0 < mass la lz pi S -> is_law lz (law la lz pi S).
Proof.
  intros HS M. split.
  - intro z. apply div_nonneg; [|exact M]. apply sum_nonneg; intros a _.
    apply Rmult_le_pos; [destruct (HS a) as [->| ->]; lra | auto].
  - assert (H := sum_law S (fun _ => 1)). rewrite (sum_ext _ (fun z => law la lz pi S z * 1)) by (intro; ring).
    rewrite H. unfold chance. apply Rmult_eq_reg_r with (mass la lz pi S); [|lra].
    unfold mass at 3. field_simplify; [|lra]. apply sum_ext; intro a. apply sum_ext; intro z. ring.
Qed.

(* Single values are the worst events. *)
Theorem proposition_2_values q : correlation la lz pi q ->
  forall S S', event S -> event S' -> 0 < mass la lz pi S -> 0 < mass la lz pi S' ->
  tv lz (law la lz pi S) (law la lz pi S') <= q.
Proof.
  intros near S S' HS HS' M M'.
  destruct (tv_largest lz (law la lz pi S) (law la lz pi S')) as [_ [T [HT <-]]]; auto using law_is_law.
  rewrite !sum_law, !chance_average by assumption.
  set (g := given lz pi (fun _ z => T z)).
  assert (B : sum (fun a => S a * (share lz pi a * g a)) la / mass la lz pi S
              <= 1 * (sum (fun a => S' a * (share lz pi a * (g a + q))) la / mass la lz pi S')).
  { rewrite !mass_shares in *. apply from_points; auto using share_pos.
    intros a a' I I' P P'. specialize (near a a' I I' P P').
    destruct (tv_largest lz (cond lz pi a) (cond lz pi a')) as [up _]; auto using cond_law.
    assert (U := up T). unfold g, given.
    assert (forall z, 0 <= T z <= 1) by (intro z; destruct (HT z) as [->| ->]; lra). specialize (U H). lra. }
  assert (E : sum (fun a => S' a * (share lz pi a * (g a + q))) la / mass la lz pi S'
            = sum (fun a => S' a * (share lz pi a * g a)) la / mass la lz pi S' + q).
  { rewrite (sum_ext _ (fun a => S' a * (share lz pi a * g a) + q * (S' a * share lz pi a))) by (intro; ring).
    rewrite sum_plus, sum_scal, <- mass_shares. field. lra. }
  lra.
Qed.
End Proposition2.

(* Anything made of the others with independent randomness moves no further. *)
Section Pushed.
Context {W Z : Type} (lw : list W) (lz : list Z) (sigma : W -> Z -> R).
Hypothesis sigma_pos : forall w z, 0 <= sigma w z.
Hypothesis sigma_one : forall w, In w lw -> sum (sigma w) lz = 1.
Definition pushed (P : W -> R) z := sum (fun w => P w * sigma w z) lw.

Lemma pushed_law P : is_law lw P -> is_law lz (pushed P).
Proof.
  intros [HP SP]. split.
  - intro z. apply sum_nonneg; intros. apply Rmult_le_pos; auto.
  - unfold pushed. rewrite <- (sum_swap (fun w z => P w * sigma w z)). rewrite <- SP.
    apply sum_eq; intros w I. rewrite sum_scal, sigma_one by exact I. ring.
Qed.
Theorem proposition_2_processing P Q : tv lz (pushed P) (pushed Q) <= tv lw P Q.
Proof.
  unfold tv.
  assert (sum (fun w => Rmin (P w) (Q w)) lw <= sum (fun z => Rmin (pushed P z) (pushed Q z)) lz); [|lra].
  apply Rle_trans with (sum (fun z => pushed (fun w => Rmin (P w) (Q w)) z) lz).
  - unfold pushed. rewrite <- (sum_swap (fun w z => Rmin (P w) (Q w) * sigma w z)).
    right. apply sum_eq; intros w I. rewrite sum_scal, sigma_one by exact I. ring.
  - apply sum_le; intros z _. apply Rmin_glb; apply sum_le; intros w _;
      (apply Rmult_le_compat_r; [auto | apply Rmin_l || apply Rmin_r]).
Qed.
End Pushed.
