(* Questions of a menu: independent ones enter through one number (section 4), products (4.4), and known laws
   (Lemma 3 of 4.5). *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums Notions Variation Theorem1 Certificate.
Open Scope R_scope.

(* ---- Independent questions enter through one number ---- *)
(* g, g': chances of the answer to the question that concerns the feature, at two of its levels. h: the product of the
   other questions, between m and rest m. (double star) holds for both together if it does where the other questions
   say least, P = 1, and where they say most, P = rest. *)
Definition star2_beside {Z} (lz : list Z) q D rest g g' (P : R) :=
  forall z z' z'', In z lz -> In z' lz -> In z'' lz ->
  (1 - q) * g z * P + q * rest * g z' <= D * ((1 - q) * g' z * P + q * g' z'').

Theorem independent_questions {Z} (lz : list Z) q D rest m (g g' h : Z -> R) :
  0 <= q <= 1 -> 0 <= D -> 0 <= m ->
  (forall z, In z lz -> 0 <= g z) -> (forall z, In z lz -> 0 <= g' z) ->
  (forall z, In z lz -> m <= h z <= rest * m) ->
  star2_beside lz q D rest g g' 1 -> star2_beside lz q D rest g g' rest ->
  star2 lz q D (fun z => g z * h z) (fun z => g' z * h z).
Proof.
  intros Hq HD Hm gp gp' hm C1 CR z z' z'' Iz Iz' Iz''.
  specialize (C1 z z' z'' Iz Iz' Iz''). specialize (CR z z' z'' Iz Iz' Iz'').
  set (G := (1 - q) * g z) in *. set (T := g z') in *. set (G' := (1 - q) * g' z) in *. set (B := g' z'') in *.
  assert (T0 : 0 <= T) by (apply gp; assumption). assert (B0 : 0 <= B) by (apply gp'; assumption).
  destruct (hm z Iz) as [h1 h2]. destruct (hm z' Iz') as [_ t2]. destruct (hm z'' Iz'') as [b1 _].
  assert (up : q * (T * h z') <= q * (T * (rest * m))).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; assumption. }
  assert (down : D * (q * (B * m)) <= D * (q * (B * h z''))).
  { repeat (apply Rmult_le_compat_l; [lra|]). assumption. }
  (* linear in h z, and at most 0 at both ends m and rest m *)
  assert (line : G * h z + q * rest * T * m <= D * (G' * h z + q * B * m)).
  { assert (e1 : G * m + q * rest * T * m <= D * (G' * m + q * B * m)).
    { assert (0 <= m * (D * (G' * 1 + q * B) - (G * 1 + q * rest * T))) by (apply Rmult_le_pos; lra). lra. }
    assert (e2 : G * (rest * m) + q * rest * T * m <= D * (G' * (rest * m) + q * B * m)).
    { assert (0 <= m * (D * (G' * rest + q * B) - (G * rest + q * rest * T))) by (apply Rmult_le_pos; lra). lra. }
    set (k := h z) in *. set (n := rest * m) in *. set (a := q * rest * T * m) in *. set (b := q * B * m) in *.
    destruct (Req_dec n m) as [e|ne]; [replace k with m by lra; exact e1|].
    apply Rmult_le_reg_l with (n - m); [lra|].
    assert (0 <= (n - k) * (D * (G' * m + b) - (G * m + a))) by (apply Rmult_le_pos; lra).
    assert (0 <= (k - m) * (D * (G' * n + b) - (G * n + a))) by (apply Rmult_le_pos; lra). lra. }
  unfold G, G', T, B in *. lra.
Qed.

(* ---- One question of ratio r that may read the feature and anything else, beside others of ratio `rest` ---- *)
(* own v w: the chance of its answer; h z: that of the other answers, from what they see of the others. *)
Section OwnAndRest.
Context {V W Z : Type} (lv : list V) (lw : list W) (lz : list Z).
Variables (pi : V -> W -> R) (sigma : W -> Z -> R).
Hypothesis pi_pos : forall v w, 0 <= pi v w.
Hypothesis sigma_pos : forall w z, 0 <= sigma w z.
Hypothesis sigma_one : forall w, In w lw -> sum (sigma w) lz = 1.
Variables (own : V -> W -> R) (h : Z -> R) (m r rest q : R).
Hypothesis own_between : forall v w, In v lv -> In w lw -> m <= own v w <= r * m.
Hypothesis h_pos : forall z, In z lz -> 0 <= h z.
Hypothesis h_ratio : forall z z', In z lz -> In z' lz -> h z <= rest * h z'.
Hypothesis m_pos : 0 <= m.
Hypothesis r_one : 1 <= r.
Hypothesis rest_one : 1 <= rest.
Hypothesis q_01 : 0 <= q <= 1.
Hypothesis near : seen_correlation lv lw lz pi sigma q.

Lemma own_and_rest v v' : In v lv -> In v' lv -> 0 < share lw pi v -> 0 < share lw pi v' ->
  given lw pi (fun v w => own v w * sum (fun z => sigma w z * h z) lz) v
  <= r * (1 - q + q * rest) * given lw pi (fun v w => own v w * sum (fun z => sigma w z * h z) lz) v'.
Proof.
  intros I I' P P'.
  assert (r_rest : r <= r * rest) by (assert (0 <= r * (rest - 1)) by (apply Rmult_le_pos; lra); lra).
  assert (S0 : forall w, In w lw -> 0 <= sum (fun z => sigma w z * h z) lz).
  { intros w J. apply sum_nonneg; intros z K. apply Rmult_le_pos; auto. }
  apply (seen_bound lv lw lz pi sigma pi_pos sigma_pos sigma_one _ (fun z => r * m * h z) (fun z => m * h z) q); auto.
  - apply Rmult_le_pos; [lra|]. assert (0 <= q * (rest - 1)) by (apply Rmult_le_pos; lra). lra.
  - intros w J.
    rewrite (sum_ext (fun z => sigma w z * (r * m * h z)) (fun z => r * m * (sigma w z * h z))) by (intro; ring).
    rewrite sum_scal.
    apply Rmult_le_compat_r; [auto | apply own_between; assumption].
  - intros w J. rewrite (sum_ext (fun z => sigma w z * (m * h z)) (fun z => m * (sigma w z * h z))) by (intro; ring).
    rewrite sum_scal.
    apply Rmult_le_compat_r; [auto | apply own_between; assumption].
  - replace (r * (1 - q + q * rest)) with ((1 - q) * r + q * (r * rest)) by ring.
    apply star_certifies; auto; [lra| |].
    + intros z J. right. ring.
    + intros z z' J J'. assert (m * h z <= m * (rest * h z')) by (apply Rmult_le_compat_l; auto).
      assert (r * (m * h z) <= r * (m * (rest * h z'))) by (apply Rmult_le_compat_l; lra). lra.
Qed.
End OwnAndRest.

(* ---- Section 4.4: product questions ---- *)
(* What is asked is made of feature i and of others, and rounded at random: `code v w` is the law of its level.
   Table: ratio r. Beside it stand questions h about the others, seen through sigma, of ratio `rest`. *)
Section Product.
Context {V W L Z Y U : Type} (lv : list V) (lw : list W) (ll : list L) (lz : list Z) (ly : list Y) (lu : list U).
Variables (pi : V -> W -> R) (code : V -> W -> L -> R) (sigma : W -> Z -> R).
Variables (table : L -> Y -> R) (h : Z -> U -> R) (r rest q : R).
Hypothesis prior : is_prior lv lw pi.
Hypothesis code_pos : forall v w l, 0 <= code v w l.
Hypothesis code_one : forall v w, In v lv -> In w lw -> sum (code v w) ll = 1.
Hypothesis sigma_pos : forall w z, 0 <= sigma w z.
Hypothesis sigma_one : forall w, In w lw -> sum (sigma w) lz = 1.
Hypothesis table_pos : forall l y, 0 <= table l y.
Hypothesis h_pos : forall z u, 0 <= h z u.
Hypothesis table_ratio : forall y l l', In y ly -> In l ll -> In l' ll -> table l y <= r * table l' y.
Hypothesis h_ratio : forall u z z', In u lu -> In z lz -> In z' lz -> h z u <= rest * h z' u.
Hypothesis r_one : 1 <= r.
Hypothesis rest_one : 1 <= rest.
Hypothesis q_01 : 0 <= q <= 1.
Definition product_answer v w (y : Y * U) :=
  sum (fun l => code v w l * table l (fst y)) ll * sum (fun z => sigma w z * h z (snd y)) lz.

Theorem product_question : seen_correlation lv lw lz pi sigma q ->
  bcdp lv lw (list_prod ly lu) pi product_answer (r * (1 - q + q * rest)).
Proof.
  intros near. destruct prior as [pos _]. apply from_values; [exact pos|].
  intros [y u] v v' Iyu I I' P P'. apply in_prod_iff in Iyu. destruct Iyu as [Iy Iu].
  assert (HW : exists w, In w lw) by (apply (sum_pos_inhabited (pi v)); exact P). destruct HW as [w0 J0].
  assert (HL : exists l, In l ll) by (apply (sum_pos_inhabited (code v w0)); rewrite code_one; auto; lra).
  destruct HL as [l0 K0]. destruct (argmin (fun l => table l y) ll l0 K0) as [lm [Km least]].
  apply (own_and_rest lv lw lz pi sigma pos sigma_pos sigma_one
           (fun v w => sum (fun l => code v w l * table l y) ll) (fun z => h z u) (table lm y) r rest q); auto.
  intros x w Ix Iw. assert (one := code_one x w Ix Iw). split.
  - rewrite <- (Rmult_1_r (table lm y)), <- one, <- sum_scal. apply sum_le; intros l J.
    rewrite Rmult_comm. apply Rmult_le_compat_l; auto.
  - rewrite <- (Rmult_1_r (r * table lm y)), <- one, <- sum_scal. apply sum_le; intros l J.
    rewrite (Rmult_comm _ (code x w l)). apply Rmult_le_compat_l; auto.
Qed.
(* A menu of this question alone has no other answers: rest = 1. Its feature has the level of the table; one that is not
   among its factors has (star) with c = 0. *)
Theorem product_question_ldp : ldp lv lw ly (fun v w y => sum (fun l => code v w l * table l y) ll) r.
Proof.
  intros E HE v w v' w' I J I' J'. apply from_outputs; [|exact HE]. intros y Iy.
  apply mixtures with (x := fun l => table l y) (y := fun l => table l y); auto.
Qed.
End Product.

(* ---- Lemma 3: known laws ---- *)
Section KnownLaws.
Context {V W Z Y K : Type} (lv : list V) (lw : list W) (lz : list Z) (ly : list Y) (lk : list K).
Variables (pi : V -> W -> R) (sigma : W -> Z -> R).     (* sigma: the levels of the one feature that is asked *)
Variable table : Z -> Y -> R.
Variable rows : K -> Z -> R.                            (* the stated laws P_k *)
Variable D : R.
Hypothesis prior : is_prior lv lw pi.
Definition told k y := sum (fun z => rows k z * table z y) lz.
Definition one_answer (v : V) w y := sum (fun z => sigma w z * table z y) lz.
(* given any value of x_i, the law of what is asked is a mixture of the rows *)
Definition mixture_of_rows := forall v, In v lv -> 0 < share lw pi v -> exists s : K -> R,
  (forall k, 0 <= s k) /\ sum s lk = 1 /\
  forall z, In z lz -> seen lw pi sigma v z = sum (fun k => s k * rows k z) lk.

Lemma given_answer y v :
  given lw pi (fun v w => one_answer v w y) v = sum (fun z => seen lw pi sigma v z * table z y) lz.
Proof. symmetry. apply sum_seen. Qed.

Lemma mixtures_of_rows y v v' : mixture_of_rows -> In v lv -> In v' lv -> 0 < share lw pi v -> 0 < share lw pi v' ->
  (forall k k', In k lk -> In k' lk -> told k y <= D * told k' y) ->
  given lw pi (fun v w => one_answer v w y) v <= D * given lw pi (fun v w => one_answer v w y) v'.
Proof.
  intros mix I I' P P' H.
  rewrite !given_answer. destruct (mix v I P) as [s [s0 [s1 e]]]. destruct (mix v' I' P') as [s' [s0' [s1' e']]].
  assert (as_rows : forall t x, (forall z, In z lz -> seen lw pi sigma x z = sum (fun k => t k * rows k z) lk) ->
            sum (fun z => seen lw pi sigma x z * table z y) lz = sum (fun k => t k * told k y) lk).
  { intros t x ex. transitivity (sum (fun z => sum (fun k => t k * (rows k z * table z y)) lk) lz).
    - apply sum_eq; intros z J. rewrite ex by exact J. rewrite Rmult_comm, <- sum_scal. apply sum_ext; intro k. ring.
    - rewrite sum_swap. apply sum_ext; intro k. apply sum_scal. }
  rewrite (as_rows s v e), (as_rows s' v' e'). apply mixtures; auto.
Qed.
Theorem lemma_3 : mixture_of_rows ->
  (forall y k k', In y ly -> In k lk -> In k' lk -> told k y <= D * told k' y) ->
  bcdp lv lw ly pi one_answer D.
Proof.
  intros mix H. destruct prior as [pos _]. apply from_values; [exact pos|]. intros y v v' Iy I I' P P'.
  apply mixtures_of_rows; auto.
Qed.

(* With equality if each row is the law given some value. *)
Theorem lemma_3_attained :
  (forall v v' : V, {v = v'} + {v <> v'}) -> (forall y y' : Y, {y = y'} + {y <> y'}) -> NoDup lv -> NoDup ly ->
  (forall k, In k lk -> exists v, In v lv /\ 0 < share lw pi v /\
     forall z, In z lz -> seen lw pi sigma v z = rows k z) ->
  bcdp lv lw ly pi one_answer D ->
  forall y k k', In y ly -> In k lk -> In k' lk -> told k y <= D * told k' y.
Proof.
  intros eqV eqY nv ny each H y k k' Iy J J'. destruct prior as [pos _].
  destruct (each k J) as [v [I [P e]]]. destruct (each k' J') as [v' [I' [P' e']]].
  apply (proposition_1_bcdp lv lw ly one_answer D eqV eqY nv ny pi pos) with (y := y) (a := v) (a' := v') in H; auto.
  rewrite !given_answer in H. unfold told.
  rewrite (sum_eq (fun z => rows k z * table z y) (fun z => seen lw pi sigma v z * table z y))
    by (intros z K0; rewrite e by exact K0; reflexivity).
  rewrite (sum_eq (fun z => rows k' z * table z y) (fun z => seen lw pi sigma v' z * table z y))
    by (intros z K0; rewrite e' by exact K0; reflexivity).
  exact H.
Qed.
End KnownLaws.
