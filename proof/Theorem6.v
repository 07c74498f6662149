(* Theorem 6 of theory.md: guesses which range a number is in. The bound on the correlation is about ranges of
   feature i only. Within a range the value may go with the others in any way. *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums Notions Variation Theorem1.
Open Scope R_scope.

Section Ranges.
Context {A B Z Y : Type} (la : list A) (lb : list B) (lz : list Z) (ly : list Y).
Variables (pi : A -> Z -> R) (mu : A -> Z -> Y -> R).
Variable range : A -> B.
Hypothesis eqB : forall b b' : B, {b = b'} + {b <> b'}.
Hypothesis prior : is_prior la lz pi.
Hypothesis mu_pos : forall a z y, 0 <= mu a z y.

Definition in_range b : A -> R := fun a => point eqB b (range a).
(* the promise: events made of ranges *)
Definition range_bcdp D := forall E, event E -> forall S S' : B -> R, event S -> event S' ->
  0 < mass la lz pi (fun a => S (range a)) -> 0 < mass la lz pi (fun a => S' (range a)) ->
  chance la lz pi (prob ly mu E) (fun a => S (range a)) <= D * chance la lz pi (prob ly mu E) (fun a => S' (range a)).
(* the assumption: laws of the others given ranges *)
Definition range_correlation q := forall b b', In b lb -> In b' lb ->
  0 < mass la lz pi (in_range b) -> 0 < mass la lz pi (in_range b') ->
  tv lz (law la lz pi (in_range b)) (law la lz pi (in_range b')) <= q.

Hypothesis nb : NoDup lb.
Hypothesis covered : forall a, In a la -> In (range a) lb.

Lemma ranges_suffice D : 1 <= D ->
  (forall y b b', In y ly -> In b lb -> In b' lb -> b <> b' ->
     0 < mass la lz pi (in_range b) -> 0 < mass la lz pi (in_range b') ->
     chance la lz pi (fun a z => mu a z y) (in_range b) <= D * chance la lz pi (fun a z => mu a z y) (in_range b')) ->
  range_bcdp D.
Proof.
  intros HD H E HE S S' HS HS' M M'. destruct prior as [pos _].
  set (share_of := fun b => mass la lz pi (in_range b)).
  set (chance_of := fun b => chance la lz pi (prob ly mu E) (in_range b)).
  assert (in_range_01 : forall b, event (in_range b)) by (intros b a; apply point_01).
  assert (share0 : forall b, 0 <= share_of b).
  { intro b. apply sum_nonneg; intros a _. apply sum_nonneg; intros z _.
    apply Rmult_le_pos; [apply point_pos | apply pos]. }
  (* sums over values, gathered by range *)
  assert (gather : forall T g, sum (fun a => T (range a) * g a) la
                   = sum (fun b => T b * sum (fun a => in_range b a * g a) la) lb).
  { intros T g. transitivity (sum (fun a => sum (fun b => T b * (in_range b a * g a)) lb) la).
    - apply sum_eq; intros a I.
      rewrite <- (sum_point eqB (fun b => T b * g a) lb (range a) nb (covered a I)).
      apply sum_ext; intro b. unfold in_range, point.
      destruct (eqB b (range a)) as [e|n], (eqB (range a) b) as [e'|n']; try congruence; ring.
    - rewrite sum_swap. apply sum_ext; intro b. apply sum_scal. }
  assert (gmass : forall T, mass la lz pi (fun a => T (range a)) = sum (fun b => T b * share_of b) lb).
  { intro T. rewrite mass_shares. rewrite gather. apply sum_ext; intro b. unfold share_of. rewrite mass_shares.
    reflexivity. }
  assert (point_share : forall b, share_of b * chance_of b
            = sum (fun a => in_range b a * sum (fun z => pi a z * prob ly mu E a z) lz) la).
  { intro b. unfold chance_of. rewrite chance_average by exact pos.
    transitivity (sum (fun a => in_range b a * (share lz pi a * given lz pi (prob ly mu E) a)) la).
    - destruct (Rle_lt_or_eq_dec _ _ (share0 b)) as [p|p].
      + unfold share_of in *. field. lra.
      + rewrite <- p, Rmult_0_l. unfold share_of in p. rewrite mass_shares in p.
        transitivity (sum (fun _ : A => 0) la); [symmetry; apply sum_zero|]. apply sum_eq; intros a I.
        assert (Z0 : in_range b a * share lz pi a = 0).
        { apply (sum_zero_terms (fun a => in_range b a * share lz pi a) la); auto.
          intros a1 _. apply Rmult_le_pos; [apply point_pos | apply share_pos, pos]. }
        rewrite <- Rmult_assoc, Z0. ring.
    - apply sum_ext; intro a. rewrite share_given by exact pos. reflexivity. }
  assert (gchance : forall T, chance la lz pi (prob ly mu E) (fun a => T (range a))
            = sum (fun b => T b * (share_of b * chance_of b)) lb / sum (fun b => T b * share_of b) lb).
  { intro T. rewrite <- gmass, chance_average by exact pos. f_equal. rewrite gather.
    apply sum_ext; intro b. rewrite point_share. f_equal. apply sum_ext; intro a. rewrite share_given by exact pos.
    reflexivity. }
  rewrite !gchance. rewrite gmass in M, M'.
  apply from_points; auto. intros b b' I I' P P'.
  assert (lin : forall b, chance_of b = sum (fun y => E y * chance la lz pi (fun a z => mu a z y) (in_range b)) ly).
  { intro x. unfold chance_of. rewrite chance_average by exact pos.
    set (i := / mass la lz pi (in_range x)).
    set (part := fun a y => in_range x a * (share lz pi a * given lz pi (fun a z => mu a z y) a)).
    transitivity (i * sum (fun y => sum (fun a => E y * part a y) la) ly).
    - unfold Rdiv. rewrite Rmult_comm. f_equal. rewrite sum_swap. apply sum_ext; intro a. rewrite given_prob.
      rewrite <- !sum_scal. apply sum_ext; intro y. unfold part. ring.
    - rewrite <- sum_scal. apply sum_ext; intro y. rewrite sum_scal, chance_average by exact pos.
      unfold Rdiv, part, i. ring. }
  destruct (eqB b b') as [->|n].
  - assert (0 <= chance_of b').
    { rewrite lin. apply sum_nonneg; intros y _. apply Rmult_le_pos; [destruct (HE y) as [->| ->]; lra|].
      unfold chance. apply div_nonneg; [|exact P']. apply sum_nonneg; intros a _. apply sum_nonneg; intros z _.
      repeat apply Rmult_le_pos; auto. apply point_pos. }
    assert (0 <= (D - 1) * chance_of b') by (apply Rmult_le_pos; lra). lra.
  - rewrite !lin. apply from_outputs; [|exact HE]. intros y Iy. apply H; auto.
Qed.

(* F: at least the chance at every value of the range; G: at most. *)
Theorem theorem_6 q D (F G : Y -> B -> Z -> R) : 0 <= q <= 1 -> 1 <= D ->
  (forall y a z, In y ly -> In a la -> In z lz -> mu a z y <= F y (range a) z) ->
  (forall y a z, In y ly -> In a la -> In z lz -> G y (range a) z <= mu a z y) ->
  (forall y b b', In y ly -> In b lb -> In b' lb -> b <> b' -> star2 lz q D (F y b) (G y b')) ->
  range_correlation q -> range_bcdp D.
Proof.
  intros Hq HD up down cert near. destruct prior as [pos _]. apply ranges_suffice; [exact HD|].
  intros y b b' Iy I I' n P P'.
  assert (in_range_01 : forall b, event (in_range b)) by (intros x a; apply point_01).
  apply Rle_trans with (sum (fun z => law la lz pi (in_range b) z * F y b z) lz).
  { rewrite sum_law. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, P|].
    apply sum_le; intros a Ia. apply sum_le; intros z Iz. unfold in_range, point.
    destruct (eqB (range a) b) as [<-|]; [|lra].
    apply Rmult_le_compat_l; [rewrite Rmult_1_l; apply pos | apply up; assumption]. }
  apply Rle_trans with (D * sum (fun z => law la lz pi (in_range b') z * G y b' z) lz).
  - apply two_laws with q; auto; try lra; apply law_is_law; auto.
  - apply Rmult_le_compat_l; [lra|]. rewrite sum_law.
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, P'|].
    apply sum_le; intros a Ia. apply sum_le; intros z Iz. unfold in_range, point.
    destruct (eqB (range a) b') as [<-|]; [|lra].
    apply Rmult_le_compat_l; [rewrite Rmult_1_l; apply pos | apply down; assumption].
Qed.
(* (star) needs no more than the correlation of ranges. *)
Theorem theorem_6_star c eps q : 0 <= c -> c <= eps -> 0 <= q <= 1 ->
  (forall y a z a' z', In y ly -> In a la -> In z lz -> In a' la -> In z' lz -> mu a z y <= exp eps * mu a' z' y) ->
  (forall y a a' z, In y ly -> In a la -> In a' la -> In z lz -> mu a z y <= exp c * mu a' z y) ->
  range_correlation q -> range_bcdp (star q c eps).
Proof.
  intros Hc Hce Hq LDP CDP near. destruct prior as [pos _].
  assert (C1 := exp_one c Hc). assert (CE := exp_le c eps Hce).
  assert (D1 : 1 <= star q c eps).
  { unfold star. assert (0 <= q * (exp eps - exp c)) by (apply Rmult_le_pos; lra). lra. }
  intros E HE S S' HS HS' M M'. destruct (sum_pos_inhabited _ la M) as [a0 I0]. revert E HE S S' HS HS' M M'.
  apply theorem_6 with q (fun y _ z => most (fun a => mu a z y) a0 la)
                                  (fun y _ z => least (fun a => mu a z y) a0 la); auto.
  - intros y a z Iy Ia Iz. apply (proj1 (most_facts (fun a => mu a z y) a0 la)), Ia.
  - intros y a z Iy Ia Iz. apply (proj1 (least_facts (fun a => mu a z y) a0 la)), Ia.
  - intros y b b' Iy _ _ _. apply star_certifies; auto; try lra.
    + intros z Iz. destruct (proj2 (most_facts (fun a => mu a z y) a0 la)) as [a [Ia ->]].
      destruct (proj2 (least_facts (fun a => mu a z y) a0 la)) as [a' [Ia' ->]].
      destruct Ia as [<-|Ia], Ia' as [<-|Ia']; auto.
    + intros z z' Iz Iz'. destruct (proj2 (most_facts (fun a => mu a z y) a0 la)) as [a [Ia ->]].
      destruct (proj2 (least_facts (fun a => mu a z' y) a0 la)) as [a' [Ia' ->]].
      destruct Ia as [<-|Ia], Ia' as [<-|Ia']; auto.
Qed.
End Ranges.

Section Attained.
Context {A B Z Y : Type} (la : list A) (lz : list Z) (ly : list Y).
Variables (mu : A -> Z -> Y -> R) (range : A -> B) (q D : R).
Hypothesis eqA : forall a a' : A, {a = a'} + {a <> a'}.
Hypothesis eqB : forall b b' : B, {b = b'} + {b <> b'}.
Hypothesis eqZ : forall z z' : Z, {z = z'} + {z <> z'}.
Hypothesis eqY : forall y y' : Y, {y = y'} + {y <> y'}.
Hypothesis (na : NoDup la) (nz : NoDup lz) (ny : NoDup ly).
Hypothesis q_01 : 0 <= q <= 1.

(* Attained. Any two numbers of one range and any two of another compare as (double star) says, hence so do the largest
   and the least chances over the ranges. The prior: given one range the numbers a1, a2, with the others at z, z'; given
   the other a3, a4, with z, z''. *)
Theorem theorem_6_attained (lb : list B) y a1 a2 a3 a4 z z' z'' :
  (forall pi, is_prior la lz pi -> range_correlation la lb lz pi range eqB q -> range_bcdp la lz ly pi mu range D) ->
  In y ly -> In a1 la -> In a2 la -> In a3 la -> In a4 la -> In z lz -> In z' lz -> In z'' lz ->
  range a1 = range a2 -> range a3 = range a4 -> range a1 <> range a3 ->
  (1 - q) * mu a1 z y + q * mu a2 z' y <= D * ((1 - q) * mu a3 z y + q * mu a4 z'' y).
Proof.
  intros H Iy I1 I2 I3 I4 Iz Iz' Iz'' e12 e34 n.
  set (spot := fun a x b c => point eqA a b * point eqZ x c).
  set (pi := fun a x => / 2 * ((1 - q) * spot a1 z a x + q * spot a2 z' a x)
                      + / 2 * ((1 - q) * spot a3 z a x + q * spot a4 z'' a x)).
  assert (at0 : forall a x b c, 0 <= spot a x b c) by (intros; apply Rmult_le_pos; apply point_pos).
  assert (total : forall g b c, In b la -> In c lz ->
            sum (fun a => sum (fun x => spot b c a x * g a x) lz) la = g b c).
  { intros g b c Ib Ic. rewrite <- (sum_point eqA (fun a => g a c) la b na Ib). apply sum_ext; intro a.
    rewrite <- (sum_point eqZ (g a) lz c nz Ic), <- sum_scal. apply sum_ext; intro x. unfold spot. ring. }
  assert (expect : forall g, sum (fun a => sum (fun x => pi a x * g a x) lz) la
            = / 2 * ((1 - q) * g a1 z + q * g a2 z') + / 2 * ((1 - q) * g a3 z + q * g a4 z'')).
  { intro g. rewrite <- (total g a1 z), <- (total g a2 z'), <- (total g a3 z), <- (total g a4 z'') by assumption.
    rewrite <- !sum_scal, <- !sum_plus, <- !sum_scal, <- !sum_plus. apply sum_ext; intro a.
    rewrite <- !sum_scal, <- !sum_plus, <- !sum_scal, <- !sum_plus. apply sum_ext; intro x. unfold pi. ring. }
  assert (prior : is_prior la lz pi).
  { split.
    - intros a x. unfold pi.
      assert (p := fun b c => Rmult_le_pos (1 - q) (spot b c a x) ltac:(lra) (at0 b c a x)).
      assert (p' := fun b c => Rmult_le_pos q (spot b c a x) ltac:(lra) (at0 b c a x)).
      assert (h1 := p a1 z). assert (h2 := p' a2 z'). assert (h3 := p a3 z). assert (h4 := p' a4 z''). lra.
    - rewrite (sum_ext _ (fun a => sum (fun x => pi a x * 1) lz)) by (intro a; apply sum_ext; intro; ring).
      rewrite (expect (fun _ _ => 1)). field. }
  set (S := fun b => point eqB (range a1) b). set (S' := fun b => point eqB (range a3) b).
  assert (s1 : S (range a1) = 1) by (unfold S, point; destruct (eqB (range a1) (range a1)); congruence).
  assert (s3 : S (range a3) = 0) by (unfold S, point; destruct (eqB (range a3) (range a1)); congruence).
  assert (s3' : S' (range a3) = 1) by (unfold S', point; destruct (eqB (range a3) (range a3)); congruence).
  assert (s1' : S' (range a1) = 0) by (unfold S', point; destruct (eqB (range a1) (range a3)); congruence).
  assert (mass_of : forall T, mass la lz pi (fun a => T (range a)) = / 2 * T (range a1) + / 2 * T (range a3)).
  { intro T. unfold mass.
    rewrite (sum_ext _ (fun a => sum (fun x => pi a x * T (range a)) lz)) by (intro a; apply sum_ext; intro; ring).
    rewrite (expect (fun a _ => T (range a))), <- e12, <- e34. ring. }
  assert (chance_of : forall T f, chance la lz pi f (fun a => T (range a)) * mass la lz pi (fun a => T (range a))
            = / 2 * T (range a1) * ((1 - q) * f a1 z + q * f a2 z')
              + / 2 * T (range a3) * ((1 - q) * f a3 z + q * f a4 z'')
            \/ mass la lz pi (fun a => T (range a)) = 0).
  { intros T f. destruct (Req_dec (mass la lz pi (fun a => T (range a))) 0) as [m0|m0]; [right; exact m0|left].
    unfold chance. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by exact m0.
    rewrite (sum_ext _ (fun a => sum (fun x => pi a x * (T (range a) * f a x)) lz))
      by (intro a; apply sum_ext; intro; ring).
    rewrite (expect (fun a x => T (range a) * f a x)), <- e12, <- e34. ring. }
  assert (mS : mass la lz pi (fun a => S (range a)) = / 2) by (rewrite mass_of, s1, s3; ring).
  assert (mS' : mass la lz pi (fun a => S' (range a)) = / 2) by (rewrite mass_of, s1', s3'; ring).
  assert (cS : forall f, chance la lz pi f (fun a => S (range a)) = (1 - q) * f a1 z + q * f a2 z').
  { intro f. destruct (chance_of S f) as [e|e]; [|lra]. rewrite mS, s1, s3 in e. lra. }
  assert (cS' : forall f, chance la lz pi f (fun a => S' (range a)) = (1 - q) * f a3 z + q * f a4 z'').
  { intro f. destruct (chance_of S' f) as [e|e]; [|lra]. rewrite mS', s1', s3' in e. lra. }
  assert (near : range_correlation la lb lz pi range eqB q).
  { intros b b' _ _ M M'.
    assert (only : forall x, 0 < mass la lz pi (in_range range eqB x) -> x = range a1 \/ x = range a3).
    { intros x Mx. assert (e : mass la lz pi (in_range range eqB x) = _) by exact (mass_of (point eqB x)).
      rewrite e in Mx. unfold point in Mx.
      destruct (eqB (range a1) x); [left; congruence|]. destruct (eqB (range a3) x); [right; congruence|]. lra. }
    assert (ev : forall x : B, event (in_range range eqB x)) by (intros x a; apply point_01).
    destruct prior as [pos _].
    destruct (tv_largest lz (law la lz pi (in_range range eqB b))
      (law la lz pi (in_range range eqB b'))) as [_ [T [HT <-]]];
      try (apply law_is_law; auto).
    rewrite !sum_law.
    assert (T01 : forall x, 0 <= T x <= 1) by (intro x; destruct (HT x) as [->| ->]; lra).
    assert (vS : chance la lz pi (fun _ x => T x) (in_range range eqB (range a1)) = (1 - q) * T z + q * T z')
      by (apply (cS (fun _ x => T x))).
    assert (vS' : chance la lz pi (fun _ x => T x) (in_range range eqB (range a3)) = (1 - q) * T z + q * T z'')
      by (apply (cS' (fun _ x => T x))).
    assert (t1 := T01 z'). assert (t2 := T01 z'').
    assert (0 <= q * T z') by (apply Rmult_le_pos; lra). assert (0 <= q * T z'') by (apply Rmult_le_pos; lra).
    assert (0 <= q * (1 - T z')) by (apply Rmult_le_pos; lra).
    assert (0 <= q * (1 - T z'')) by (apply Rmult_le_pos; lra).
    destruct (only b M) as [->| ->], (only b' M') as [->| ->]; rewrite ?vS, ?vS'; lra. }
  assert (R := H pi prior near (point eqY y) (point_01 eqY y) S S' (point_01 eqB _) (point_01 eqB _)).
  rewrite mS, mS', cS, cS' in R. unfold prob in R. rewrite !sum_point in R by assumption. apply R; lra.
Qed.
End Attained.
