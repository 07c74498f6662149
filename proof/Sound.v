(* What Checker.v computes bounds the mechanism of Device.v. *)
Require Import Reals Lra List ZArith Lia Bool.
Import ListNotations.
Require Import Sums Notions Variation Releases Certificate Questions Checker Device.
Open Scope R_scope.

Definition value (x : fraction) := IZR (fst x) / IZR (snd x).
Definition sound_fraction (x : fraction) := (0 < snd x)%Z /\ (snd x <= fst x)%Z.

(* ---- Fractions ---- *)
Lemma total_pos : 0 < IZR total.
Proof. apply IZR_lt. reflexivity. Qed.
Lemma value_one x : sound_fraction x -> 1 <= value x.
Proof.
  intros [P H]. apply IZR_lt in P. apply IZR_le in H. unfold value.
  apply Rmult_le_reg_r with (IZR (snd x)); [exact P|].
  replace (IZR (fst x) / IZR (snd x) * IZR (snd x)) with (IZR (fst x)) by (field; lra). lra.
Qed.
Lemma at_most_value x y : at_most x y = true -> (0 < snd y)%Z -> IZR (fst x) <= value y * IZR (snd x).
Proof.
  intros H P. apply Z.leb_le in H. apply IZR_le in H. rewrite !mult_IZR in H. apply IZR_lt in P. unfold value.
  apply Rmult_le_reg_r with (IZR (snd y)); [exact P|].
  replace (IZR (fst y) / IZR (snd y) * IZR (snd x) * IZR (snd y)) with (IZR (fst y) * IZR (snd x)) by (field; lra).
  exact H.
Qed.
Lemma at_most_le x y : at_most x y = true -> (0 < snd x)%Z -> (0 < snd y)%Z -> value x <= value y.
Proof.
  intros H P P'. assert (B := at_most_value x y H P'). apply IZR_lt in P. unfold value at 1.
  apply Rmult_le_reg_r with (IZR (snd x)); [exact P|].
  replace (IZR (fst x) / IZR (snd x) * IZR (snd x)) with (IZR (fst x)) by (field; lra). exact B.
Qed.
Lemma multiply_value x y : (0 < snd x)%Z -> (0 < snd y)%Z -> value (multiply x y) = value x * value y.
Proof.
  intros P P'. apply IZR_lt in P. apply IZR_lt in P'. unfold value, multiply. simpl. rewrite !mult_IZR. field. lra.
Qed.
Lemma multiply_sound x y : sound_fraction x -> sound_fraction y -> sound_fraction (multiply x y).
Proof. intros [P H] [P' H']. unfold sound_fraction, multiply. simpl. split; nia. Qed.
Lemma checked_facts found check D : checked found check = Some D -> sound_fraction D /\ check D = true /\ D = found.
Proof.
  unfold checked. destruct ((0 <? snd found)%Z && (snd found <=? fst found)%Z && check found) eqn:E; [|discriminate].
  intros H. inversion H; subst D. apply andb_true_iff in E. destruct E as [E C]. apply andb_true_iff in E.
  destruct E as [P L]. apply Z.ltb_lt in P. apply Z.leb_le in L. repeat split; auto.
Qed.
Lemma most_of_le l x : In x l -> (x <= most_of l)%Z.
Proof.
  induction l as [|a l IH]; simpl; intros I; [contradiction|].
  destruct I as [->|I]; [lia | specialize (IH I); lia].
Qed.
Lemma least_of_le l x : In x l -> (least_of l <= x)%Z.
Proof.
  destruct l as [|a l]; [contradiction|]. simpl. intros I. revert x I. induction l as [|b l IH]; simpl; intros x I.
  - destruct I as [->|[]]; lia.
  - destruct I as [->|[->|I]]; [specialize (IH x (or_introl eq_refl)) | | specialize (IH x (or_intror I))]; lia.
Qed.
Lemma least_of_pos l : (forall x, In x l -> (0 <= x)%Z) -> (0 <= least_of l)%Z.
Proof.
  destruct l as [|a l]; simpl; intros H; [lia|].
  assert (G : forall x, In x l -> (0 <= x)%Z) by (intros x I; apply H; auto). specialize (H a (or_introl eq_refl)).
  induction l as [|b l IH]; simpl; [assumption|]. assert (0 <= b)%Z by (apply G; left; reflexivity).
  assert (0 <= fold_right Z.min a l)%Z by (apply IH; intros x I; apply G; right; exact I). lia.
Qed.

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
Lemma proper_bound_facts q : proper_bound q = true -> (0 <= fst q <= snd q)%Z /\ (0 < snd q)%Z /\ 0 <= value q <= 1.
Proof.
  intros H. unfold proper_bound in H. rewrite !andb_true_iff, !Z.leb_le, Z.ltb_lt in H. destruct H as [[H0 H1] H2].
  split; [lia|]. split; [exact H2|]. apply IZR_le in H0. apply IZR_le in H1. apply IZR_lt in H2. unfold value. split.
  - apply div_nonneg; assumption.
  - apply Rmult_le_reg_r with (IZR (snd q)); [exact H2|].
    replace (IZR (fst q) / IZR (snd q) * IZR (snd q)) with (IZR (fst q)) by (field; lra). lra.
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

Lemma spread_value q rest : (0 < snd q)%Z -> (0 < snd rest)%Z ->
  value (spread q rest) = 1 - value q + value q * value rest.
Proof.
  intros P P'. apply IZR_lt in P. apply IZR_lt in P'. unfold value, spread. simpl.
  rewrite plus_IZR, !mult_IZR, minus_IZR. field. lra.
Qed.
Lemma independent_bcdp pi q rest : is_prior lv lw pi -> proper_bound q = true -> ratios (rest_of i qs) = Some rest ->
  seen_correlation lv lw (menu_masked i qs) pi (sees_menu css) (value q) ->
  bcdp lv lw (outputs qs) pi (answers qs css) (value (multiply r (spread q rest))).
Proof.
  intros [pos _] Bq Er near. apply from_values; [exact pos|]. intros ys v v' I Iv Iv' P P'.
  destruct (proper_bound_facts q Bq) as [B1 [B2 B3]].
  assert (s := ratios_sound _ _ own_ratio). assert (s' := ratios_sound _ _ Er).
  destruct (part_between _ _ _ ys pr own_ratio I) as [m [m0 H]].
  destruct (other_between qs rest ys pr Er I) as [m' [m0' H']].
  rewrite multiply_value; [|apply s | unfold spread; simpl; destruct s'; nia].
  rewrite spread_value by (apply s' || exact B2).
  assert (e : forall x, In x lv -> given lw pi (fun a w => answers qs css a w ys) x
            = given lw pi (fun v w => part (own i) qs css v w ys
                * sum (fun z => sees_menu css w z * part_seen other qs ys z) (menu_masked i qs)) x).
  { intros x Ix. apply sum_eq; intros w Iw. rewrite (answers_split i), (other_seen lv lw i mode); auto. }
  rewrite !e by assumption.
  apply (own_and_rest lv lw (menu_masked i qs) pi (sees_menu css) pos) with (m := m); auto using value_one.
  - intros w z. apply (sees_menu_pos lv lw i mode qs), F.
  - intros w Iw. apply (sees_menu_one lv lw i mode); assumption.
  - intros x w Ix Iw. apply H; assumption.
  - intros z Iz. destruct (H' z Iz). lra.
  - intros z z' Iz Iz'. destruct (H' z Iz) as [_ up]. destruct (H' z' Iz') as [low _].
    apply Rle_trans with (1 := up). apply Rmult_le_compat_l; [|exact low]. assert (O := value_one _ s'). lra.
Qed.
End Independent.

(* ---- The certificate of a joint table ---- *)
(* X l and X' l: integers at two levels of the feature, at l of the others; N: what they are out of. *)
Lemma stars_facts (L : list (list nat)) (X X' : list nat -> Z) N q rest D l l' l'' P : 0 < N ->
  (forall Pz x, In Pz (heard rest) -> In x (stars q rest Pz (map X L) (map X' L)) -> at_most x D = true) ->
  sound_fraction D -> sound_fraction rest -> proper_bound q = true -> In l L -> In l' L -> In l'' L ->
  P = 1 \/ P = value rest ->
  let g := fun l => IZR (X l) / N in let g' := fun l => IZR (X' l) / N in
  (1 - value q) * g l * P + value q * value rest * g l' <= value D * ((1 - value q) * g' l * P + value q * g' l'').
Proof.
  intros HN C s [r0 r1] B Il Il' Il'' HP g g'. destruct (proper_bound_facts q B) as [Bq [Bq' _]].
  set (top := most_of (map X L)). set (bottom := least_of (map X' L)).
  (* the integers of the check *)
  assert (star : forall Pz : Z, Pz = snd rest \/ Pz = fst rest ->
            IZR ((snd q - fst q) * Pz * X l + fst q * fst rest * top)
            <= value D * IZR ((snd q - fst q) * Pz * X' l + fst q * snd rest * bottom)).
  { intros Pz HPz.
    apply (at_most_value (((snd q - fst q) * Pz * X l + fst q * fst rest * top)%Z,
                          ((snd q - fst q) * Pz * X' l + fst q * snd rest * bottom)%Z)); [|apply s].
    apply (C Pz).
    { unfold heard. apply nodup_In. simpl. destruct HPz as [->| ->]; auto. }
    apply in_map_iff. exists (X l, X' l). split; [reflexivity|]. apply nodup_In.
    clear - Il. induction L as [|x xs IH]; [contradiction|].
    destruct Il as [->|Il]; [left; reflexivity | right; auto]. }
  assert (t1 : (X l' <= top)%Z) by (apply most_of_le, (in_map X), Il').
  assert (b1 : (bottom <= X' l'')%Z) by (apply least_of_le, (in_map X'), Il'').
  assert (D1 := value_one _ s).
  assert (scaled : forall Pz : Z, (Pz = snd rest \/ Pz = fst rest) -> P = IZR Pz / IZR (snd rest) ->
            (1 - value q) * g l * P + value q * value rest * g l'
            <= value D * ((1 - value q) * g' l * P + value q * g' l'')).
  { intros Pz HPz e. specialize (star Pz HPz). rewrite !plus_IZR, !mult_IZR, !minus_IZR in star.
    apply IZR_le in t1. apply IZR_le in b1. apply IZR_lt in r0. apply IZR_le in r1.
    destruct Bq as [q0 q1]. apply IZR_le in q0. apply IZR_le in q1. apply IZR_lt in Bq'.
    assert (U : IZR (fst q) * IZR (fst rest) * IZR (X l') <= IZR (fst q) * IZR (fst rest) * IZR top)
      by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact t1]).
    assert (W0 : value D * (IZR (fst q) * IZR (snd rest) * IZR bottom)
                 <= value D * (IZR (fst q) * IZR (snd rest) * IZR (X' l''))).
    { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact b1]. }
    apply Rmult_le_reg_r with (IZR (snd q) * IZR (snd rest) * N).
    { apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; lra. }
    subst P. unfold g, g'. unfold value at 1 2 3. unfold value at 2 3.
    replace (((1 - IZR (fst q) / IZR (snd q)) * (IZR (X l) / N) * (IZR Pz / IZR (snd rest))
              + IZR (fst q) / IZR (snd q) * (IZR (fst rest) / IZR (snd rest)) * (IZR (X l') / N))
             * (IZR (snd q) * IZR (snd rest) * N))
      with ((IZR (snd q) - IZR (fst q)) * IZR Pz * IZR (X l) + IZR (fst q) * IZR (fst rest) * IZR (X l'))
      by (field; lra).
    replace (value D * ((1 - IZR (fst q) / IZR (snd q)) * (IZR (X' l) / N) * (IZR Pz / IZR (snd rest))
                        + IZR (fst q) / IZR (snd q) * (IZR (X' l'') / N)) * (IZR (snd q) * IZR (snd rest) * N))
      with (value D * ((IZR (snd q) - IZR (fst q)) * IZR Pz * IZR (X' l) + IZR (fst q) * IZR (snd rest) * IZR (X' l'')))
      by (field; lra).
    lra. }
  apply IZR_lt in r0. destruct HP as [e|e].
  - apply (scaled (snd rest)); [auto | rewrite e; field; lra].
  - apply (scaled (fst rest)); [auto | exact e].
Qed.

Lemma joint_level_facts shares_levels qn p q rest D :
  joint_level i qn p shares_levels q (Some rest) = Some D -> sound_fraction rest ->
  sound_fraction D /\ proper_bound q = true /\
  forall y a a' l l' l'' P, In y (symbols qn) -> In a (own_levels p (coordinates qn)) ->
    In a' (own_levels p (coordinates qn)) -> (shares_levels = true \/ a <> a') ->
    In l (masked i (coordinates qn)) -> In l' (masked i (coordinates qn)) -> In l'' (masked i (coordinates qn)) ->
    P = 1 \/ P = value rest ->
    let g := fun l => symbol_chance qn (put p a l) y in let g' := fun l => symbol_chance qn (put p a' l) y in
    (1 - value q) * g l * P + value q * value rest * g l'
    <= value D * ((1 - value q) * g' l * P + value q * g' l'').
Proof.
  intros H sr. unfold joint_level in H. destruct (proper_bound q) eqn:B; [|discriminate].
  apply checked_facts in H. destruct H as [s [C _]]. split; [exact s|]. split; [reflexivity|].
  intros y a a' l l' l'' P Iy Ia Ia' sh Il Il' Il'' HP.
  apply (stars_facts (masked i (coordinates qn)) (fun l => cell qn (put p a l) y) (fun l => cell qn (put p a' l) y));
    auto using total_pos.
  intros Pz x IP Ix. apply (proj1 (forallb_forall _ _) C). unfold all_stars. apply in_flat_map. exists y.
  split; [exact Iy|]. apply in_flat_map. exists (a, weights i qn p y a).
  split; [apply (in_map (fun a => (a, weights i qn p y a))), Ia|].
  apply in_flat_map. exists (a', weights i qn p y a').
  split; [apply (in_map (fun a => (a, weights i qn p y a))), Ia'|]. simpl.
  assert (d : negb shares_levels && Nat.eqb a a' = false).
  { destruct sh as [->|n]; [reflexivity|]. apply Nat.eqb_neq in n. rewrite n. apply andb_false_r. }
  rewrite d. apply in_flat_map. exists Pz. auto.
Qed.

(* The same for ranges: rows of a range with a common total. *)
Lemma range_level_facts qn p sp q rest D k :
  range_level i qn p sp q (Some rest) = Some D -> sound_fraction rest -> nth_error (coordinates qn) p = Some k ->
  sound_fraction D /\ proper_bound q = true /\
  exists rows T, span (size k) sp = Some rows /\ proper_rows (size k) rows T = true /\
  forall y b b' l l' l'' P, In y (symbols qn) -> (b < length rows)%nat -> (b' < length rows)%nat -> b <> b' ->
    In l (masked i (coordinates qn)) -> In l' (masked i (coordinates qn)) -> In l'' (masked i (coordinates qn)) ->
    P = 1 \/ P = value rest ->
    let g := fun l => IZR (most_of (map (fun row => row_cell qn p y row l) (nth b rows []))) / (IZR T * IZR total) in
    let g' := fun l => IZR (least_of (map (fun row => row_cell qn p y row l) (nth b' rows []))) / (IZR T * IZR total) in
    (1 - value q) * g l * P + value q * value rest * g l'
    <= value D * ((1 - value q) * g' l * P + value q * g' l'').
Proof.
  intros H sr at_k. unfold range_level in H. rewrite at_k in H. destruct (span (size k) sp) as [rows|]; [|discriminate].
  set (T := law_total (hd [] (hd [] rows))) in *.
  destruct (proper_bound q && proper_rows (size k) rows T) eqn:B; [|discriminate]. apply andb_true_iff in B.
  destruct B as [B R]. apply checked_facts in H. destruct H as [s [C _]]. split; [exact s|]. split; [exact B|].
  exists rows, T. split; [reflexivity|]. split; [exact R|].
  intros y b b' l l' l'' P Iy Hb Hb' n Il Il' Il'' HP.
  assert (T0 : 0 < IZR T * IZR total).
  { apply andb_true_iff in R. destruct R as [R _]. apply Z.ltb_lt, IZR_lt in R.
    apply Rmult_lt_0_compat; [exact R | apply total_pos]. }
  apply (stars_facts (masked i (coordinates qn))
           (fun l => most_of (map (fun row => row_cell qn p y row l) (nth b rows [])))
           (fun l => least_of (map (fun row => row_cell qn p y row l) (nth b' rows [])))); auto.
  intros Pz x IP Ix. apply (proj1 (forallb_forall _ _) C). unfold range_stars. apply in_flat_map. exists y.
  split; [exact Iy|].
  set (part := fun b => (b, (above i qn p y (nth b rows []), below i qn p y (nth b rows [])))).
  apply in_flat_map. exists (part b). split; [apply (in_map part), in_seq; simpl; split;
    [apply Nat.le_0_l | exact Hb]|].
  apply in_flat_map. exists (part b'). split; [apply (in_map part), in_seq; simpl; split;
    [apply Nat.le_0_l | exact Hb']|].
  simpl. apply Nat.eqb_neq in n. rewrite n. apply in_flat_map. exists Pz. auto.
Qed.
End Sound.
