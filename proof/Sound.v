(* What Checker.v computes bounds the mechanism of Device.v. *)
Require Import Reals Lra List ZArith Lia Bool.
Import ListNotations.
Require Import Sums Notions Variation Releases Certificate Parts Checker Device Kept.
Open Scope R_scope.

(* ---- Tables ---- *)
Lemma proper_cells qn : proper qn = true -> forall l y, In l (vectors (coordinates qn)) -> In y (symbols qn) ->
  (0 <= cell qn l y)%Z.
Proof.
  intros H l y I J. apply (proj1 (forallb_forall _ _) H) in I. apply andb_true_iff in I. destruct I as [I _].
  apply (proj1 (forallb_forall _ _) I) in J. apply Z.leb_le, J.
Qed.
Lemma symbol_pos qn : proper qn = true -> forall l y, In l (vectors (coordinates qn)) -> In y (symbols qn) ->
  0 <= symbol_chance qn l y.
Proof. intros H l y I J. apply div_nonneg; [apply IZR_le, proper_cells; assumption | apply total_pos]. Qed.
Lemma symbols_one qn l : proper qn = true -> In l (vectors (coordinates qn)) ->
  sum (symbol_chance qn l) (symbols qn) = 1.
Proof.
  intros H I. apply (proj1 (forallb_forall _ _) H) in I. apply andb_true_iff in I. destruct I as [_ I].
  apply Z.eqb_eq in I. assert (T := total_pos).
  transitivity (IZR (fold_right Z.add 0%Z (map (cell qn l) (symbols qn))) / IZR total).
  - clear I. induction (symbols qn) as [|y ys IH]; simpl; [field; lra|]. rewrite IH, plus_IZR. unfold symbol_chance.
    field. lra.
  - rewrite I. field. lra.
Qed.
Definition all_proper qs := Forall (fun qn => proper qn = true) qs.
Lemma ratio_facts qn r : proper qn = true -> ratio qn = Some r ->
  sound_fraction r /\
  forall y, In y (symbols qn) -> exists m, 0 <= m /\
    forall l, In l (vectors (coordinates qn)) -> m <= symbol_chance qn l y <= value r * m.
Proof.
  intros P H. apply checked_facts in H. destruct H as [s [C _]]. split; [exact s|]. intros y I.
  assert (T := total_pos). exists (IZR (least_of (cells qn y)) / IZR total).
  assert (pos : forall x, In x (cells qn y) -> (0 <= x)%Z).
  { intros x J. apply in_map_iff in J. destruct J as [l [<- J]]. apply proper_cells; assumption. }
  split; [apply div_nonneg; [apply IZR_le, least_of_pos, pos | exact T]|].
  intros l J. assert (K : In (cell qn l y) (cells qn y)) by (apply (in_map (fun l => cell qn l y)), J).
  assert (B : at_most (most_of (cells qn y), least_of (cells qn y)) r = true).
  { apply (proj1 (forallb_forall _ _) C). apply (in_map (fun y => (most_of (cells qn y), least_of (cells qn y)))), I. }
  apply at_most_value in B; [|apply s]. simpl in B.
  assert (lo := IZR_le _ _ (least_of_le _ _ K)). assert (hi := IZR_le _ _ (most_of_le _ _ K)).
  unfold symbol_chance. split.
  - apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, T | exact lo].
  - unfold Rdiv. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, T | lra].
Qed.
Lemma ratios_sound qs r : ratios qs = Some r -> sound_fraction r.
Proof.
  revert r. induction qs as [|qn qs IH]; simpl; intros r H; [inversion H; split; reflexivity || (simpl; lia)|].
  destruct (ratio qn) as [x|] eqn:E; [|discriminate]. destruct (ratios qs) as [z|] eqn:E'; [|discriminate].
  inversion H. apply checked_facts in E. apply multiply_sound; [apply E | apply IH; reflexivity].
Qed.

(* ---- Averages and products of numbers between m and r m ---- *)
Definition between r m x := m <= x <= r * m.
Lemma between_average {T} (l : list T) (s x : T -> R) r m :
  (forall t, In t l -> 0 <= s t) -> sum s l = 1 -> (forall t, In t l -> between r m (x t)) ->
  between r m (sum (fun t => s t * x t) l).
Proof.
  intros pos one H. split.
  - rewrite <- (Rmult_1_r m), <- one, <- sum_scal. apply sum_le; intros t I. rewrite Rmult_comm.
    apply Rmult_le_compat_l; [auto | apply H, I].
  - rewrite <- (Rmult_1_r (r * m)), <- one, <- sum_scal. apply sum_le; intros t I. rewrite (Rmult_comm (r * m)).
    apply Rmult_le_compat_l; [auto | apply H, I].
Qed.
Lemma between_product r r' m m' x y : 0 <= m -> 0 <= m' ->
  between r m x -> between r' m' y -> between (r * r') (m * m') (x * y).
Proof.
  intros Hm Hm' [a b] [c d]. split.
  - apply Rmult_le_compat; assumption.
  - replace (r * r' * (m * m')) with ((r * m) * (r' * m')) by ring. apply Rmult_le_compat; lra.
Qed.
Lemma between_one : between 1 1 1.
Proof. unfold between. lra. Qed.

Section Sound.
Context {V W : Type} (lv : list V) (lw : list W) (i : nat) (mode : @guesses V).
Notation fits_question := (fits_question lv lw i mode).
Notation fits_menu := (fits_menu lv lw i mode).
Notation other := (other i).

Lemma part_between keep qs r ys : all_proper qs -> ratios (filter keep qs) = Some r -> In ys (outputs qs) ->
  exists m, 0 <= m /\ forall css v w, fits_menu qs css -> In v lv -> In w lw ->
    between (value r) m (part keep qs css v w ys).
Proof.
  intros pr. revert r ys. induction pr as [|qn qs Hp pr IH]; intros r ys E I.
  - inversion E. exists 1. split; [lra|]. intros css v w _ _ _. simpl. unfold value. simpl. unfold between. lra.
  - apply in_tuples in I. destruct I as [y [ys' [-> [Iy I]]]]. simpl in E. destruct (keep qn) eqn:k.
    + simpl in E. destruct (ratio qn) as [x|] eqn:E1; [|discriminate].
      destruct (ratios (filter keep qs)) as [x'|] eqn:E2; [|discriminate]. inversion E.
      destruct (IH x' ys' eq_refl I) as [m [m0 H]]. destruct (ratio_facts _ _ Hp E1) as [s F].
      destruct (F y Iy) as [m1 [m10 F1]]. assert (s' := ratios_sound _ _ E2).
      exists (m1 * m). split; [apply Rmult_le_pos; assumption|]. intros css v w Fm Iv Iw. inversion Fm; subst.
      simpl. rewrite k.
      rewrite multiply_value by (apply s || apply s'). apply between_product; auto.
      apply between_average; auto; [intros; eapply coded_pos; eassumption | eapply coded_one; eassumption].
    + destruct (IH r ys' E I) as [m [m0 H]]. exists m. split; [exact m0|]. intros css v w Fm Iv Iw. inversion Fm; subst.
      simpl. rewrite k, Rmult_1_l. auto.
Qed.
Lemma masked_vectors ks : existsb (concerns i) ks = false -> masked i ks = vectors ks.
Proof.
  unfold masked, vectors. induction ks as [|k ks IH]; simpl; intros E; [reflexivity|].
  apply orb_false_iff in E. destruct E as [E E']. rewrite E, (IH E'). reflexivity.
Qed.
Lemma other_between qs r ys : all_proper qs -> ratios (filter other qs) = Some r -> In ys (outputs qs) ->
  exists m, 0 <= m /\ forall z, In z (menu_masked i qs) -> between (value r) m (part_seen other qs ys z).
Proof.
  intros pr. revert r ys. induction pr as [|qn qs Hp pr IH]; intros r ys E I.
  - inversion E. exists 1. split; [lra|]. intros z _. simpl. unfold value. simpl. unfold between. lra.
  - apply in_tuples in I. destruct I as [y [ys' [-> [Iy I]]]]. simpl in E. destruct (other qn) eqn:k.
    + simpl in E. destruct (ratio qn) as [x|] eqn:E1; [|discriminate].
      destruct (ratios (filter other qs)) as [x'|] eqn:E2; [|discriminate]. inversion E.
      destruct (IH x' ys' eq_refl I) as [m [m0 H]]. destruct (ratio_facts _ _ Hp E1) as [s F].
      destruct (F y Iy) as [m1 [m10 F1]]. assert (s' := ratios_sound _ _ E2).
      exists (m1 * m). split; [apply Rmult_le_pos; assumption|]. intros z Iz. apply in_tuples in Iz.
      destruct Iz as [l [z' [-> [Il Iz]]]]. simpl. rewrite k.
      rewrite multiply_value by (apply s || apply s'). apply between_product; auto.
      apply F1. rewrite <- masked_vectors; [exact Il|]. unfold Device.other, own in k.
      apply negb_true_iff in k. exact k.
    + destruct (IH r ys' E I) as [m [m0 H]]. exists m. split; [exact m0|]. intros z Iz. apply in_tuples in Iz.
      destruct Iz as [l [z' [-> [Il Iz]]]]. simpl. rewrite k, Rmult_1_l. auto.
Qed.
Lemma filter_all {T} (l : list T) : filter (fun _ => true) l = l.
Proof. induction l; simpl; [|rewrite IHl]; reflexivity. Qed.

Lemma part_pos keep qs css v w ys : all_proper qs -> fits_menu qs css -> In ys (outputs qs) ->
  0 <= part keep qs css v w ys.
Proof.
  intros pr. revert css ys. induction pr as [|qn qs Hp pr IH]; intros css ys F I; [simpl; lra|].
  apply in_tuples in I. destruct I as [y [ys' [-> [Iy I]]]]. inversion F; subst. simpl.
  apply Rmult_le_pos; [|apply IH; assumption]. destruct (keep qn); [|lra].
  apply sum_nonneg; intros l Il. apply Rmult_le_pos; [eapply coded_pos; eassumption | apply symbol_pos; assumption].
Qed.
Lemma answers_pos qs css v w ys : all_proper qs -> fits_menu qs css -> In ys (outputs qs) -> 0 <= answers qs css v w ys.
Proof. rewrite answers_all. apply part_pos. Qed.
Lemma answer_one qn cs v w : proper qn = true -> fits_question qn cs -> In v lv -> In w lw ->
  sum (answer qn cs v w) (symbols qn) = 1.
Proof.
  intros P F Iv Iw. unfold answer. rewrite sum_swap. rewrite <- (coded_one lv lw i mode _ _ v w F Iv Iw).
  apply sum_eq; intros l I. rewrite sum_scal, symbols_one by assumption. ring.
Qed.
Lemma answers_one qs css v w : all_proper qs -> fits_menu qs css -> In v lv -> In w lw ->
  sum (answers qs css v w) (outputs qs) = 1.
Proof.
  intros pr. revert css. induction pr as [|qn qs Hp pr IH]; intros css F Iv Iw; inversion F as [|? cs ? css' Fq Fm];
    subst; [simpl; ring|].
  unfold outputs. simpl map. rewrite sum_tuples. simpl.
  rewrite (sum_ext _ (fun y => answer qn cs v w y * 1))
    by (intro y; rewrite sum_scal; unfold outputs in IH; rewrite IH by assumption; reflexivity).
  rewrite (sum_ext _ (answer qn cs v w)) by (intro; ring). apply answer_one; assumption.
Qed.

(* ---- LDP of a menu ---- *)
Lemma menu_epsilon_sound m css r : all_proper (questions m) -> menu_epsilon m = Some r -> fits_menu (questions m) css ->
  ldp lv lw (outputs (questions m)) (answers (questions m) css) (value r).
Proof.
  intros pr E F e He v w v' w' Iv Iw Iv' Iw'. apply from_outputs; [|exact He]. intros ys I.
  unfold menu_epsilon in E. rewrite <- (filter_all (questions m)) in E.
  destruct (part_between _ _ _ ys pr E I) as [x [x0 H]]. rewrite !answers_all.
  destruct (H css v w F Iv Iw) as [_ up]. destruct (H css v' w' F Iv' Iw') as [low _].
  assert (s := ratios_sound _ _ E). assert (O := value_one _ s).
  apply Rle_trans with (1 := up). apply Rmult_le_compat_l; lra.
Qed.

(* ---- The questions that concern feature i, by their ratio ---- *)
Section Independent.
Variables (qs : list question) (css : list (list (coding (V := V) (W := W)))) (r : fraction).
Hypothesis pr : all_proper qs.
Hypothesis F : fits_menu qs css.
Hypothesis own_ratio : ratios (filter (own i) qs) = Some r.

Lemma other_same v v' w ys : In ys (outputs qs) -> In w lw -> part other qs css v w ys = part other qs css v' w ys.
Proof. intros I Iw. rewrite !(other_seen lv lw i mode) by assumption. reflexivity. Qed.

Lemma independent_cdp : cdp lv lw (outputs qs) (answers qs css) (value r).
Proof.
  intros e He v v' w Iv Iv' Iw. apply from_outputs; [|exact He]. intros ys I. rewrite !(answers_split i).
  rewrite (other_same v v' w ys I Iw). assert (pos := part_pos other qs css v' w ys pr F I).
  destruct (part_between _ _ _ ys pr own_ratio I) as [x [x0 H]].
  destruct (H css v w F Iv Iw) as [_ up]. destruct (H css v' w F Iv' Iw) as [low _].
  assert (s := ratios_sound _ _ own_ratio). assert (O := value_one _ s).
  rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [exact pos|].
  apply Rle_trans with (1 := up). apply Rmult_le_compat_l; lra.
Qed.

Lemma spread_facts q odds rest : proper_bound q = true -> proper_odds odds = true -> sound_fraction rest ->
  sound_fraction (spread (moved q odds) rest) /\
  forall most' least', most' = IZR (most (moved q odds)) / IZR (mass (moved q odds)) ->
    least' = IZR (least (moved q odds)) / IZR (mass (moved q odds)) ->
    value (spread (moved q odds) rest) * (1 + least' * (value rest - 1)) = 1 + most' * (value rest - 1).
Proof.
  intros B O [r0 r1]. destruct (moved_facts q odds B O) as [[l0 lm] [_ [T0 _]]]. set (ms := moved q odds) in *.
  assert (b0 : (0 < mass ms * snd rest + least ms * (fst rest - snd rest))%Z) by nia.
  split; [unfold sound_fraction, spread; simpl; nia|]. intros a b -> ->.
  apply IZR_lt in b0. apply IZR_lt in T0. apply IZR_lt in r0. unfold value, spread. simpl.
  rewrite plus_IZR, !mult_IZR, minus_IZR in b0. rewrite !plus_IZR, !mult_IZR, minus_IZR. field. repeat split; lra.
Qed.
Lemma independent_bcdp pi q odds rest : is_prior lv lw pi -> proper_bound q = true -> proper_odds odds = true ->
  ratios (rest_of i qs) = Some rest ->
  seen_within lv lw (menu_masked i qs) pi (sees_menu css) (value q) (real_odds odds) ->
  bcdp lv lw (outputs qs) pi (answers qs css) (value (multiply r (spread (moved q odds) rest))).
Proof.
  intros [pos _] Bq Bo Er near. apply from_values; [exact pos|]. intros ys v v' I Iv Iv' P P'.
  destruct (proper_bound_facts q Bq) as [_ [_ q01]].
  assert (s := ratios_sound _ _ own_ratio). assert (s' := ratios_sound _ _ Er).
  destruct (spread_facts q odds rest Bq Bo s') as [ss es]. specialize (es _ _ eq_refl eq_refl).
  destruct (moved_facts q odds Bq Bo) as [[l0 lm] [c0 [T0 M]]]. simpl in M. set (ms := moved q odds) in *.
  destruct (part_between _ _ _ ys pr own_ratio I) as [m [m0 H]].
  destruct (other_between qs rest ys pr Er I) as [m' [m0' H']].
  rewrite multiply_value by (apply s || apply ss).
  assert (e : forall x, In x lv -> given lw pi (fun a w => answers qs css a w ys) x
            = given lw pi (fun v w => part (own i) qs css v w ys
                * sum (fun z => sees_menu css w z * part_seen other qs ys z) (menu_masked i qs)) x).
  { intros x Ix. apply sum_eq; intros w Iw. rewrite (answers_split i), (other_seen lv lw i mode); auto. }
  rewrite !e by assumption. assert (S1 := value_one _ ss).
  apply (own_beside_rest lv lw (menu_masked i qs) pi (sees_menu css) pos) with (m := m) (q := value q)
    (K := real_odds odds); auto using value_one; try lra.
  - intros w z. apply (sees_menu_pos lv lw i mode qs), F.
  - intros w Iw. apply (sees_menu_one lv lw i mode); assumption.
  - intros x w Ix Iw. apply H; assumption.
  - intros z Iz. destruct (H' z Iz). lra.
  - apply parts_compare with (1 := q01) (3 := M); [lra|]. apply IZR_le in l0. apply IZR_le in lm. apply IZR_le in c0.
    apply IZR_lt in T0. apply rest_certifies with (value rest) m'; auto using value_one.
    + unfold mass in *. rewrite !plus_IZR in *. field. lra.
    + apply div_nonneg; assumption.
    + apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, T0 | exact lm].
    + apply div_nonneg; assumption.
Qed.
End Independent.

(* ---- The certificate of a joint table ---- *)
Lemma worst_facts ms rest all D : worst ms rest all = Some D ->
  sound_fraction D /\ forall points, In points all -> kept ms rest D points = true.
Proof.
  intros H. apply checked_facts in H. destruct H as [s [C _]]. split; [exact s|].
  intros points I. apply (proj1 (forallb_forall _ _) C), I.
Qed.
Lemma joint_level_facts shares_levels qn p q odds rest D :
  joint_level i qn p shares_levels q odds (Some rest) = Some D ->
  sound_fraction D /\ proper_bound q = true /\ proper_odds odds = true /\
  forall y a a', In y (symbols qn) -> In a (own_levels p (coordinates qn)) ->
    In a' (own_levels p (coordinates qn)) -> (shares_levels = true \/ a <> a') ->
    kept (moved q odds) rest D (pairs_of (weights i qn p y a) (weights i qn p y a')) = true.
Proof.
  intros H. unfold joint_level in H. destruct (proper_bound q && proper_odds odds) eqn:B; [|discriminate].
  apply andb_true_iff in B. destruct B as [B O].
  destruct (worst_facts _ _ _ _ H) as [s C]. split; [exact s|]. split; [exact B|]. split; [exact O|].
  intros y a a' Iy Ia Ia' sh. apply C. apply in_flat_map. exists y.
  split; [exact Iy|]. apply in_flat_map. exists (a, weights i qn p y a).
  split; [apply (in_map (fun a => (a, weights i qn p y a))), Ia|].
  apply in_flat_map. exists (a', weights i qn p y a').
  split; [apply (in_map (fun a => (a, weights i qn p y a))), Ia'|]. simpl.
  assert (d : negb shares_levels && Nat.eqb a a' = false).
  { destruct sh as [->|n]; [reflexivity|]. apply Nat.eqb_neq in n. rewrite n. apply andb_false_r. }
  rewrite d. left. reflexivity.
Qed.

(* The same for ranges: rows of a range with a common total. *)
Lemma range_level_facts qn p sp q odds rest D k :
  range_level i qn p sp q odds (Some rest) = Some D -> nth_error (coordinates qn) p = Some k ->
  sound_fraction D /\ proper_bound q = true /\ proper_odds odds = true /\
  exists rows T, span (size k) sp = Some rows /\ proper_rows (size k) rows T = true /\
  forall y b b', In y (symbols qn) -> (b < length rows)%nat -> (b' < length rows)%nat -> b <> b' ->
    kept (moved q odds) rest D (pairs_of (above i qn p y (nth b rows [])) (below i qn p y (nth b' rows []))) = true.
Proof.
  intros H at_k. unfold range_level in H. rewrite at_k in H. destruct (span (size k) sp) as [rows|]; [|discriminate].
  set (T := law_total (hd [] (hd [] rows))) in *.
  destruct (proper_bound q && proper_odds odds && proper_rows (size k) rows T) eqn:B; [|discriminate].
  apply andb_true_iff in B. destruct B as [B R]. apply andb_true_iff in B. destruct B as [B O].
  destruct (worst_facts _ _ _ _ H) as [s C]. split; [exact s|]. split; [exact B|]. split; [exact O|].
  exists rows, T. split; [reflexivity|]. split; [exact R|]. intros y b b' Iy Hb Hb' n. apply C.
  apply in_flat_map. exists y. split; [exact Iy|].
  set (part := fun b => (b, (above i qn p y (nth b rows []), below i qn p y (nth b rows [])))).
  apply in_flat_map. exists (part b). split; [apply (in_map part), in_seq; simpl; split;
    [apply Nat.le_0_l | exact Hb]|].
  apply in_flat_map. exists (part b'). split; [apply (in_map part), in_seq; simpl; split;
    [apply Nat.le_0_l | exact Hb']|].
  simpl. apply Nat.eqb_neq in n. rewrite n. left. reflexivity.
Qed.
End Sound.
