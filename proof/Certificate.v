(* Section 4 of theory.md, the exact certificate: Theorems 3 and 4, that Theorem 3 is attained,
   and that values which share a level need pairs of equal levels. *)
Require Import Reals Lra List FunctionalExtensionality.
Import ListNotations.
Require Import Sums Notions Variation Response.
Open Scope R_scope.

(* (double star) survives mixing over levels: the mixtures may differ on the two sides. *)
Lemma star2_mixed {A Z} (la : list A) (lz : list Z) (f : A -> Z -> R) q D (r r' : A -> R) :
  (forall a, 0 <= r a) -> (forall a, 0 <= r' a) -> sum r la = 1 -> sum r' la = 1 ->
  (forall a a', In a la -> In a' la -> star2 lz q D (f a) (f a')) ->
  star2 lz q D (fun z => sum (fun a => r a * f a z) la) (fun z => sum (fun a => r' a * f a z) la).
Proof.
  intros pos pos' one one' cert z z' z'' I I' I''.
  set (x := fun a => (1 - q) * f a z + q * f a z'). set (y := fun a => (1 - q) * f a z + q * f a z'').
  assert (mix : forall (s : A -> R) u v, (1 - q) * sum (fun a => s a * f a u) la + q * sum (fun a => s a * f a v) la
                = sum (fun a => s a * ((1 - q) * f a u + q * f a v)) la).
  { intros s u v. rewrite <- !sum_scal, <- sum_plus. apply sum_ext; intro a. ring. }
  rewrite !mix. fold x y.
  change (sum (fun a => r a * x a) la <= D * sum (fun a => r' a * y a) la).
  apply mixtures; auto. intros a a' J J'. apply cert; assumption.
Qed.

(* The common frame. The device sees the others w through sigma, as z. Between them, F and G bound the chance of one
   output; the certificate compares F at one value with G at another. *)
Section Seen.
Context {V W Z : Type} (lv : list V) (lw : list W) (lz : list Z).
Variable pi : V -> W -> R.
Variable sigma : W -> Z -> R.
Hypothesis pi_pos : forall v w, 0 <= pi v w.
Hypothesis sigma_pos : forall w z, 0 <= sigma w z.
Hypothesis sigma_one : forall w, In w lw -> sum (sigma w) lz = 1.

Definition seen v := pushed lw sigma (cond lw pi v).
Definition seen_correlation q := within lv lw pi (fun P Q => tv lz (pushed lw sigma P) (pushed lw sigma Q) <= q).
Lemma correlation_seen q : correlation lv lw pi q -> seen_correlation q.
Proof.
  intros H v v' I I' P P'. apply Rle_trans with (2 := H v v' I I' P P'). apply proposition_2_processing; assumption.
Qed.
Lemma sum_seen v (g : Z -> R) :
  sum (fun z => seen v z * g z) lz = given lw pi (fun _ w => sum (fun z => sigma w z * g z) lz) v.
Proof.
  unfold seen, pushed, given.
  transitivity (sum (fun z => sum (fun w => cond lw pi v w * (sigma w z * g z)) lw) lz).
  - apply sum_ext; intro z. rewrite Rmult_comm, <- sum_scal. apply sum_ext; intro w. ring.
  - rewrite sum_swap. apply sum_ext; intro w. apply sum_scal.
Qed.

Lemma seen_bound f F G q D v v' : 0 <= q <= 1 -> 0 <= D -> seen_correlation q ->
  In v lv -> In v' lv -> 0 < share lw pi v -> 0 < share lw pi v' ->
  (forall w, In w lw -> f v w <= sum (fun z => sigma w z * F z) lz) ->
  (forall w, In w lw -> sum (fun z => sigma w z * G z) lz <= f v' w) ->
  star2 lz q D F G ->
  given lw pi f v <= D * given lw pi f v'.
Proof.
  intros Hq HD near I I' P P' up down cert.
  apply Rle_trans with (sum (fun z => seen v z * F z) lz).
  { rewrite sum_seen. apply sum_le; intros w J. apply Rmult_le_compat_l; [apply cond_pos; assumption | auto]. }
  apply Rle_trans with (D * sum (fun z => seen v' z * G z) lz).
  - apply two_laws with q; auto; apply pushed_law || apply near; auto using cond_law.
  - apply Rmult_le_compat_l; [exact HD|]. rewrite sum_seen. apply sum_le; intros w J.
    apply Rmult_le_compat_l; [apply cond_pos; assumption | auto].
Qed.
End Seen.

(* ---- Theorem 3: each value of the feature is its own level ---- *)
Section Theorem3.
Context {A Z Y : Type} (la : list A) (lz : list Z) (ly : list Y).
Variable mu : A -> Z -> Y -> R.
Variables q D : R.
Hypothesis mu_pos : forall a z y, 0 <= mu a z y.
Hypothesis q_01 : 0 <= q <= 1.
Hypothesis D_one : 1 <= D.
Hypothesis eqA : forall a a' : A, {a = a'} + {a <> a'}.

(* (double star) over different pairs *)
Definition certified := forall y a a', In y ly -> In a la -> In a' la -> a <> a' ->
  star2 lz q D (fun z => mu a z y) (fun z => mu a' z y).

(* given the same value the two chances are equal *)
Lemma different_values pi : (forall a z, 0 <= pi a z) ->
  (forall y a a', In y ly -> In a la -> In a' la -> a <> a' -> 0 < share lz pi a -> 0 < share lz pi a' ->
     given lz pi (fun a z => mu a z y) a <= D * given lz pi (fun a z => mu a z y) a') ->
  bcdp la lz ly pi mu D.
Proof.
  intros pos H. apply from_values; [exact pos|]. intros y a a' Iy I I' P P'.
  destruct (eqA a a') as [->|n]; [|apply H; assumption].
  assert (0 <= given lz pi (fun a z => mu a z y) a').
  { apply sum_nonneg; intros z _. apply Rmult_le_pos; [apply cond_pos; assumption | auto]. }
  assert (0 <= (D - 1) * given lz pi (fun a z => mu a z y) a') by (apply Rmult_le_pos; lra). lra.
Qed.

Theorem theorem_3 : certified -> forall pi, is_prior la lz pi -> correlation la lz pi q -> bcdp la lz ly pi mu D.
Proof.
  intros cert pi [pos _] near. apply different_values; [exact pos|]. intros y a a' Iy I I' n P P'.
  unfold given. apply two_laws with q; auto using cond_law; lra.
Qed.

(* Attained: a table keeps D for every prior within q exactly when it satisfies the certificate. *)
Hypothesis eqZ : forall z z' : Z, {z = z'} + {z <> z'}.
Hypothesis eqY : forall y y' : Y, {y = y'} + {y <> y'}.
Hypothesis (na : NoDup la) (nz : NoDup lz) (ny : NoDup ly).

(* A prior with law Q given a2 and law P given every other value. *)
Definition two P Q a2 : A -> Z -> R := fun a z => / INR (length la) * (if eqA a a2 then Q z else P z).
Lemma two_facts P Q a2 : is_law lz P -> is_law lz Q -> In a2 la ->
  is_prior la lz (two P Q a2) /\ (forall a, 0 < share lz (two P Q a2) a) /\
  (forall a, cond lz (two P Q a2) a = if eqA a a2 then Q else P).
Proof.
  intros [HP SP] [HQ SQ] I.
  assert (n0 : 0 < INR (length la)).
  { apply lt_0_INR. destruct la; [contradiction | simpl; apply PeanoNat.Nat.lt_0_succ]. }
  assert (i0 : 0 < / INR (length la)) by (apply Rinv_0_lt_compat, n0).
  assert (sh : forall a, share lz (two P Q a2) a = / INR (length la)).
  { intro a. unfold share, two. rewrite sum_scal. destruct (eqA a a2);
      [change (/ INR (length la) * sum Q lz = / INR (length la)); rewrite SQ
      |change (/ INR (length la) * sum P lz = / INR (length la)); rewrite SP]; ring. }
  split; [split|split].
  - intros a z. unfold two. apply Rmult_le_pos; [lra|]. destruct (eqA a a2); auto.
  - transitivity (sum (fun _ : A => / INR (length la)) la).
    + apply sum_ext; intro a. apply sh.
    + rewrite sum_const. field. lra.
  - intro a. rewrite sh. exact i0.
  - intro a. apply functional_extensionality; intro z. unfold cond. rewrite sh. unfold two.
    destruct (eqA a a2); field; lra.
Qed.

(* If all priors in some relation keep D, all pairs of laws in this relation do. *)
Lemma from_priors (near : (Z -> R) -> (Z -> R) -> Prop) P Q y a a' :
  (forall pi, is_prior la lz pi -> within la lz pi near -> bcdp la lz ly pi mu D) ->
  In y ly -> In a la -> In a' la -> a <> a' -> is_law lz P -> is_law lz Q ->
  near P P -> near Q Q -> near P Q -> near Q P ->
  sum (fun z => P z * mu a z y) lz <= D * sum (fun z => Q z * mu a' z y) lz.
Proof.
  intros H Iy I I' n LP LQ PP QQ PQ QP.
  destruct (two_facts P Q a' LP LQ I') as [[pos one] [sh co]].
  assert (W : within la lz (two P Q a') near).
  { intros b b' _ _ _ _. rewrite !co. destruct (eqA b a'), (eqA b' a'); assumption. }
  assert (B := H _ (conj pos one) W).
  apply (proposition_1_bcdp la lz ly mu D eqA eqY na ny _ pos) with (y := y) (a := a) (a' := a') in B; auto.
  unfold given in B. rewrite !co in B.
  destruct (eqA a a') as [e|_]; [contradiction|]. destruct (eqA a' a') as [_|e]; [exact B | contradiction].
Qed.

(* Laws with at most three points. *)
Definition mix3 x1 z1 x2 z2 x3 z3 : Z -> R :=
  fun z => x1 * point eqZ z1 z + x2 * point eqZ z2 z + x3 * point eqZ z3 z.
Lemma mix3_sum x1 z1 x2 z2 x3 z3 g : In z1 lz -> In z2 lz -> In z3 lz ->
  sum (fun z => mix3 x1 z1 x2 z2 x3 z3 z * g z) lz = x1 * g z1 + x2 * g z2 + x3 * g z3.
Proof.
  intros I1 I2 I3.
  rewrite <- (sum_point eqZ g lz z1 nz I1), <- (sum_point eqZ g lz z2 nz I2), <- (sum_point eqZ g lz z3 nz I3).
  rewrite <- !sum_scal, <- !sum_plus. apply sum_ext; intro z. unfold mix3. ring.
Qed.
Lemma mix3_total x1 z1 x2 z2 x3 z3 : In z1 lz -> In z2 lz -> In z3 lz ->
  sum (mix3 x1 z1 x2 z2 x3 z3) lz = x1 + x2 + x3.
Proof.
  intros I1 I2 I3. assert (H := mix3_sum x1 z1 x2 z2 x3 z3 (fun _ => 1) I1 I2 I3).
  rewrite !Rmult_1_r in H. rewrite <- H. apply sum_ext; intro z. ring.
Qed.
Lemma mix3_le x1 z1 x2 z2 x3 z3 y1 y2 y3 z : x1 <= y1 -> x2 <= y2 -> x3 <= y3 ->
  mix3 x1 z1 x2 z2 x3 z3 z <= mix3 y1 z1 y2 z2 y3 z3 z.
Proof.
  intros. unfold mix3. assert (P := point_pos eqZ).
  repeat apply Rplus_le_compat; apply Rmult_le_compat_r; auto.
Qed.
Lemma mix3_law x1 z1 x2 z2 x3 z3 : In z1 lz -> In z2 lz -> In z3 lz ->
  0 <= x1 -> 0 <= x2 -> 0 <= x3 -> x1 + x2 + x3 = 1 -> is_law lz (mix3 x1 z1 x2 z2 x3 z3).
Proof.
  intros I1 I2 I3 H1 H2 H3 one. split; [|rewrite mix3_total; assumption].
  intro z. replace 0 with (mix3 0 z1 0 z2 0 z3 z) by (unfold mix3; ring). apply mix3_le; assumption.
Qed.

Theorem theorem_3_attained :
  certified <-> (forall pi, is_prior la lz pi -> correlation la lz pi q -> bcdp la lz ly pi mu D).
Proof.
  split; [exact theorem_3|].
  intros H y a a' Iy I I' n z z' z'' Iz Iz' Iz''.
  set (P := mix3 (1 - q) z q z' 0 z''). set (Q := mix3 (1 - q) z 0 z' q z'').
  assert (LP : is_law lz P) by (apply mix3_law; auto; lra).
  assert (LQ : is_law lz Q) by (apply mix3_law; auto; lra).
  assert (TV : tv lz P Q <= q).
  { apply Rle_trans with (1 - sum (mix3 (1 - q) z 0 z' 0 z'') lz).
    - apply tv_common; intro; apply mix3_le; lra.
    - rewrite mix3_total; auto; lra. }
  assert (wPP : tv lz P P <= q) by (rewrite tv_same; auto; lra).
  assert (wQQ : tv lz Q Q <= q) by (rewrite tv_same; auto; lra).
  assert (wQP : tv lz Q P <= q) by (rewrite tv_sym; exact TV).
  assert (B := from_priors (fun P Q => tv lz P Q <= q) P Q y a a' H Iy I I' n LP LQ wPP wQQ TV wQP).
  unfold P, Q in B. rewrite !mix3_sum in B by assumption. lra.
Qed.
End Theorem3.

(* ---- Theorem 4: values v, w are turned into levels a, z at random, then a table f ---- *)
Section Theorem4.
Context {V W A Z Y : Type}.              (* values of feature i, of the others; levels of each; outputs *)
Variables (lv : list V) (lw : list W) (la : list A) (lz : list Z) (ly : list Y).
Variable pi : V -> W -> R.               (* the prior, over values *)
Variable rho : V -> A -> R.              (* chance of level a, given the value v *)
Variable sigma : W -> Z -> R.            (* chance of the others' levels z, given their values w *)
Variable f : A -> Z -> Y -> R.           (* the table *)
Variable D : R.
Hypothesis rho_pos : forall v a, 0 <= rho v a.
Hypothesis rho_one : forall v, In v lv -> sum (rho v) la = 1.
Hypothesis sigma_pos : forall w z, 0 <= sigma w z.
Hypothesis sigma_one : forall w, In w lw -> sum (sigma w) lz = 1.

Definition coded v w y := sum (fun z => sigma w z * sum (fun a => rho v a * f a z y) la) lz.

Hypothesis eqY : forall y y' : Y, {y = y'} + {y <> y'}.
Hypothesis ny : NoDup ly.

Theorem theorem_4_ldp L : ldp la lz ly f L -> ldp lv lw ly coded L.
Proof.
  intros H E HE v w v' w' I J I' J'. apply from_outputs; [|exact HE]. intros y Iy. unfold coded.
  assert (T := proj1 (proposition_1_ldp la lz ly f L eqY ny) H).
  apply (mixtures lz (fun z => sum (fun a => rho v a * f a z y) la) (fun z => sum (fun a => rho v' a * f a z y) la));
    auto.
  intros z z' Iz Iz'. apply (mixtures la (fun a => f a z y) (fun a => f a z' y)); auto.
Qed.
Theorem theorem_4_cdp L : cdp la lz ly f L -> cdp lv lw ly coded L.
Proof.
  intros H E HE v v' w I I' J. apply from_outputs; [|exact HE]. intros y Iy. unfold coded.
  assert (T := proj1 (proposition_1_cdp la lz ly f L eqY ny) H).
  apply lemma_1; intros z Iz. rewrite <- Rmult_assoc, (Rmult_comm L), Rmult_assoc.
  apply Rmult_le_compat_l; [auto|]. apply (mixtures la (fun a => f a z y) (fun a => f a z y)); auto.
Qed.

(* All pairs of levels, equal ones included; the assumption is about what is seen of the others. *)
Lemma theorem_4_seen q : is_prior lv lw pi -> 0 <= q <= 1 -> 0 <= D ->
  (forall y a a', In y ly -> In a la -> In a' la -> star2 lz q D (fun z => f a z y) (fun z => f a' z y)) ->
  seen_correlation lv lw lz pi sigma q -> bcdp lv lw ly pi coded D.
Proof.
  intros [pos _] Hq HD cert near. apply from_values; [exact pos|]. intros y v v' Iy I I' P P'.
  apply (seen_bound lv lw lz pi sigma pos sigma_pos sigma_one _
           (fun z => sum (fun a => rho v a * f a z y) la) (fun z => sum (fun a => rho v' a * f a z y) la) q);
    auto; try (intros; apply Rle_refl).
  apply (star2_mixed la lz (fun a z => f a z y)); auto.
Qed.
Theorem theorem_4 q : is_prior lv lw pi -> 0 <= q <= 1 -> 0 <= D ->
  (forall y a a', In y ly -> In a la -> In a' la -> star2 lz q D (fun z => f a z y) (fun z => f a' z y)) ->
  correlation lv lw pi q -> bcdp lv lw ly pi coded D.
Proof. intros pr Hq HD cert near. apply theorem_4_seen with q; auto. apply correlation_seen; assumption. Qed.
End Theorem4.

(* ---- Equal pairs are needed: the example after Theorem 4 ---- *)
(* Levels and others are bits. One output has chance .1, .4 at level 0 and .2, .2 at level 1; q = .9. *)
Definition example_chance (a z : bool) := if a then 2 / 10 else if z then 4 / 10 else 1 / 10.
Definition example (a z y : bool) := if y then example_chance a z else 1 - example_chance a z.
(* The number 0 has level 0; the number t is rounded to level 1 with chance t. *)
Definition example_rounding t (v a : bool) := if v then (if a then t else 1 - t) else (if a then 0 else 1).
Definition example_sees (w z : bool) := if Bool.eqb w z then 1 else 0.

Theorem equal_pairs_needed :
  (* different pairs are certified at 2 = e^.693, *)
  certified bits bits bits example (9 / 10) 2 /\
  (* all pairs at 3.7 = e^1.308, *)
  (forall y a a' : bool, star2 bits (9 / 10) (37 / 10) (fun z => example a z y) (fun z => example a' z y)) /\
  (* and the numbers 0 and t reach 3.7 / (1 + t): with t = 10^-9, almost all of it. *)
  (forall t, 0 <= t <= 1 -> exists pi, is_prior bits bits pi /\ correlation bits bits pi (9 / 10) /\
     forall L, bcdp bits bits bits pi (coded bits bits (example_rounding t) example_sees example) L ->
       37 / 10 / (1 + t) <= L).
Proof.
  split; [|split].
  - intros [] [] [] _ _ _ n; try contradiction; intros [] [] [] _ _ _; simpl; unfold example_chance; lra.
  - intros [] [] [] [] [] [] _ _ _; simpl; unfold example_chance; lra.
  - intros t Ht. set (second := fun v : bool => if v then 0 else 9 / 10).
    assert (H : forall a, 0 <= second a <= 1) by (intros []; simpl; lra).
    exists (bits_prior second). split; [apply bits_is_prior, H|]. split.
    + intros a a' _ _ _ _. unfold tv. simpl. rewrite !bits_cond. unfold Rmin. destruct a, a'; simpl; bits_cases.
    + intros L B. destruct (bits_is_prior second H) as [pos _].
      apply (proposition_1_bcdp bits bits bits _ L bits_dec bits_dec bits_nodup bits_nodup _ pos)
        with (y := true) (a := false) (a' := true) in B; auto using in_bits; try (rewrite bits_share; lra).
      unfold given in B. simpl in B. rewrite !bits_cond in B.
      unfold coded, example_sees, example_rounding, example, example_chance, second in B. simpl in B.
      apply Rmult_le_reg_r with (1 + t); [lra|]. replace (37 / 10 / (1 + t) * (1 + t)) with (37 / 10) by (field; lra).
      lra.
Qed.
