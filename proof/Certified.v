(* The levels of a plan are bounds: the theorem about Checker.v. *)
Require Import Reals Lra List ZArith Lia Bool.
Import ListNotations.
Require Import Sums Notions Variation Releases Certificate Questions Parts Checker Device Kept Sound Joint.
Open Scope R_scope.

(* ---- One menu ---- *)
Section Menu.
Context {V W : Type} (lv : list V) (lw : list W) (i : nat) (mode : @guesses V).
Notation coding := (@coding V W).
Notation fits_menu := (fits_menu lv lw i mode).

(* What is assumed about the prior in a menu: how far what the menu sees of the others moves with feature i, by how much
   it moves the odds of a guess about it, and, where laws are stated, that the law of what it sees is a mixture of them.
   What holds for the others holds for what is seen of them: Parts.within_seen. *)
Definition assumed pi qs (css : list (list coding)) known :=
  seen_within lv lw (menu_masked i qs) pi (sees_menu css) (value (correlation_bound known))
    (real_odds (odds_bound known)) /\
  (laws known <> [] -> mixture_of_rows lv lw (menu_masked i qs) (laws known) pi (sees_menu css) row_law).

Lemma joint_facts qs qn p : joint i qs = Some (qn, p) -> filter (own i) qs = [qn] /\ place i (coordinates qn) = Some p.
Proof.
  unfold joint. destruct (filter (own i) qs) as [|q0 [|? ?]]; try discriminate.
  destruct (place i (coordinates q0)) as [p0|] eqn:E; [|discriminate].
  destruct (coordinates q0) as [|? [|? ?]] eqn:E'; try discriminate. intros H. inversion H; subst. rewrite E'. auto.
Qed.
Lemma menu_c_sound shares_levels m css c : mode = Values shares_levels -> all_proper (questions m) ->
  fits_menu (questions m) css -> menu_c shares_levels i m = Some c ->
  sound_fraction c /\ cdp lv lw (outputs (questions m)) (answers (questions m) css) (value c).
Proof.
  intros about pr F E. unfold menu_c in E. destruct (joint i (questions m)) as [[qn p]|] eqn:J.
  - destruct (joint_facts _ _ _ J) as [u a]. split.
    + apply (joint_level_facts i shares_levels qn p (0, 1)%Z None (1, 1)%Z c E).
    + apply (joint_cdp lv lw i mode _ _ qn p) with shares_levels; assumption.
  - split; [apply (ratios_sound _ _ E) | apply (independent_cdp lv lw i mode); assumption].
Qed.
(* Guesses are about values, or about the ranges that are stated. *)
Definition guessed shares_levels sp :=
  match sp with [] => mode = Values shares_levels | _ => exists index, mode = Ranges sp index end.
Lemma menu_delta_sound shares_levels sp m css known pi D : guessed shares_levels sp -> all_proper (questions m) ->
  fits_menu (questions m) css -> is_prior lv lw pi ->
  nth_error (knows m) i = Some known -> assumed pi (questions m) css known ->
  menu_delta shares_levels sp i m = Some D ->
  sound_fraction D /\ bcdp lv lw (outputs (questions m)) pi (answers (questions m) css) (value D).
Proof.
  intros about pr F prior K [near mix] E. unfold menu_delta in E. rewrite K in E.
  set (by_tv := match joint i (questions m) with
                | Some (qn, p) =>
                    let rest := ratios (rest_of i (questions m)) in
                    match sp with
                    | [] => joint_level i qn p shares_levels (correlation_bound known) (odds_bound known) rest
                    | _ => range_level i qn p sp (correlation_bound known) (odds_bound known) rest
                    end
                | None => independent i (questions m) (correlation_bound known) (odds_bound known)
                end) in *.
  set (by_laws := told_level i (questions m) (laws known)) in *.
  assert (T : forall x, by_tv = Some x -> sound_fraction x
              /\ bcdp lv lw (outputs (questions m)) pi (answers (questions m) css) (value x)).
  { intros x Ex. unfold by_tv in Ex. destruct (joint i (questions m)) as [[qn p]|] eqn:J.
    - destruct (joint_facts _ _ _ J) as [u a]. destruct (ratios (rest_of i (questions m))) as [rest|] eqn:R.
      2: { destruct sp; discriminate. }
      assert (sr := ratios_sound _ _ R). destruct sp as [|s0 sp'].
      + split; [apply (joint_level_facts i shares_levels qn p _ _ rest x Ex)|].
        apply (joint_bcdp lv lw i mode) with qn p shares_levels (correlation_bound known) (odds_bound known) rest;
          assumption.
      + destruct about as [index about].
        change (range_level i qn p (s0 :: sp') (correlation_bound known) (odds_bound known) (Some rest) = Some x) in Ex.
        split.
        * destruct (nth_error (coordinates qn) p) as [k|] eqn:at_k.
          { apply (range_level_facts i qn p (s0 :: sp') (correlation_bound known) (odds_bound known) rest x k); auto. }
          unfold range_level in Ex. rewrite at_k in Ex. discriminate.
        * apply (range_level_bcdp lv lw i mode) with qn p (s0 :: sp') index (correlation_bound known)
            (odds_bound known) rest; assumption.
    - unfold independent in Ex. destruct (ratios (filter (own i) (questions m))) as [r|] eqn:R; [|discriminate].
      destruct (ratios (rest_of i (questions m))) as [rest|] eqn:R'; [|discriminate].
      destruct (proper_bound (correlation_bound known) && proper_odds (odds_bound known)) eqn:B; [|discriminate].
      apply andb_true_iff in B. destruct B as [B O]. inversion Ex. split.
      + apply multiply_sound; [apply (ratios_sound _ _ R)|]. apply spread_facts; auto. apply (ratios_sound _ _ R').
      + apply (independent_bcdp lv lw i mode); assumption. }
  assert (L : forall x, by_laws = Some x -> sound_fraction x
              /\ bcdp lv lw (outputs (questions m)) pi (answers (questions m) css) (value x)).
  { intros x Ex. unfold by_laws in Ex. assert (Ex' := Ex). unfold told_level in Ex.
    destruct (questions m) as [|qn [|? ?]] eqn:Q; try discriminate.
    destruct (coordinates qn) as [|k [|? ?]]; try discriminate.
    destruct (negb (concerns i k) && negb (Nat.eqb (length (laws known)) 0) && _) eqn:C; [|discriminate].
    split; [apply (checked_facts _ _ _ Ex)|]. apply (told_bcdp lv lw i mode) with (laws known); auto.
    apply mix. intros e. rewrite e in C. simpl in C. rewrite !andb_false_r in C. discriminate. }
  unfold smaller in E. destruct by_tv as [x|], by_laws as [x'|]; try discriminate; inversion E; subst.
  - destruct (at_most x x'); auto.
  - apply T. reflexivity.
  - apply L. reflexivity.
Qed.
End Menu.

(* ---- A plan ---- *)
Lemma all_some_facts {T} (l : list (option T)) found : all_some l = Some found ->
  forall x, In x l -> exists t, x = Some t /\ In t found.
Proof.
  revert found. induction l as [|[x|] l IH]; simpl; intros found E y I; try discriminate; [contradiction|].
  destruct (all_some l) as [r|]; [|discriminate]. inversion E; subst found. destruct I as [<-|I].
  - exists x. simpl. auto.
  - destruct (IH r eq_refl y I) as [t [e J]]. exists t. simpl. auto.
Qed.
Lemma over_menus_facts level pl D : over_menus level pl = Some D ->
  sound_fraction D /\
  forall m, In m (menus pl) -> exists x, level m = Some x /\ (sound_fraction x -> value x <= value D).
Proof.
  unfold over_menus. destruct (all_some (map level (menus pl))) as [found|] eqn:A; [|discriminate].
  intros E. apply checked_facts in E. destruct E as [s [C _]]. split; [exact s|]. intros m I.
  destruct (all_some_facts _ _ A (level m) (in_map level _ _ I)) as [x [e J]]. exists x. split; [exact e|].
  intros sx. apply at_most_le; [|apply sx | apply s]. apply (proj1 (forallb_forall _ _) C), J.
Qed.

Section Plan.
Context {V W : Type} (lv : list V) (lw : list W).
Variables (pl : plan) (i : nat) (mode : @guesses V).
(* one list of codings for each question of each menu *)
Variable device : list (list (list (@coding V W))).
Definition menu_of k := nth k (menus pl) (Menu 0 [] []).
Definition codings_of k := nth k device [].
Definition menu_chance k := IZR (weight (menu_of k)) / IZR total.
Definition numbers := seq 0 (length (menus pl)).
(* A report is the number of the menu drawn and the answers. *)
Definition plan_reports := reports numbers (fun k => outputs (questions (menu_of k))).
Definition plan_mechanism := survey menu_chance (fun k => answers (questions (menu_of k)) (codings_of k)).

Definition fits_plan :=
  forall k, In k numbers -> fits_menu lv lw i mode (questions (menu_of k)) (codings_of k).
Definition plan_assumed pi := forall k, In k numbers -> exists known,
  nth_error (knows (menu_of k)) i = Some known /\ assumed lv lw i pi (questions (menu_of k)) (codings_of k) known.

Hypothesis is_proper : proper_plan pl = true.
Hypothesis fits : fits_plan.

Lemma in_menus k : In k numbers -> In (menu_of k) (menus pl).
Proof. intros I. apply in_seq in I. apply nth_In. lia. Qed.
Lemma menus_proper k : In k numbers -> (0 <= weight (menu_of k))%Z /\ all_proper (questions (menu_of k)).
Proof.
  intros I. apply in_menus in I. unfold proper_plan in is_proper. apply andb_true_iff in is_proper.
  destruct is_proper as [P _]. apply (proj1 (forallb_forall _ _) P) in I. apply andb_true_iff in I.
  destruct I as [w P'].
  apply Z.leb_le in w. split; [exact w|]. apply Forall_forall. intros qn J. apply (proj1 (forallb_forall _ _) P'), J.
Qed.
Lemma menu_chance_pos k : 0 <= menu_chance k.
Proof.
  destruct (Nat.lt_ge_cases k (length (menus pl))) as [h|h].
  - apply div_nonneg; [|apply total_pos]. apply IZR_le, menus_proper. apply in_seq. lia.
  - unfold menu_chance, menu_of. rewrite nth_overflow by exact h. simpl. unfold Rdiv. lra.
Qed.

(* It is a mechanism: chances are not negative and sum to 1. *)
Theorem plan_is_mechanism v w : In v lv -> In w lw ->
  (forall r, In r plan_reports -> 0 <= plan_mechanism v w r) /\ sum (plan_mechanism v w) plan_reports = 1.
Proof.
  intros Iv Iw. split.
  - intros [k ys] I. apply in_flat_map in I. destruct I as [k' [Ik I]]. apply in_map_iff in I.
    destruct I as [ys' [e I]]. inversion e; subst. unfold plan_mechanism, survey. simpl.
    apply Rmult_le_pos; [apply menu_chance_pos|].
    apply (answers_pos lv lw i mode); auto. apply menus_proper, Ik.
  - unfold plan_reports, reports. rewrite sum_flat_map. assert (T := total_pos).
    rewrite (sum_eq _ menu_chance).
    + unfold proper_plan in is_proper. apply andb_true_iff in is_proper. destruct is_proper as [_ W0].
      apply Z.eqb_eq in W0.
      transitivity (IZR (fold_right Z.add 0%Z (map weight (menus pl))) / IZR total); [|rewrite W0; field; lra].
      unfold numbers, menu_chance, menu_of. clear. induction (menus pl) as [|m ms IH] using rev_ind.
      * simpl. unfold Rdiv. ring.
      * rewrite app_length, seq_app, sum_app, map_app, fold_right_app. simpl.
        rewrite app_nth2, Nat.sub_diag by lia. simpl.
        rewrite (sum_eq _ (fun k => IZR (weight (nth k ms (Menu 0 [] []))) / IZR total)).
        -- rewrite IH. clear IH. set (x := weight m).
           assert (fold : forall a l, fold_right Z.add a l = (fold_right Z.add 0 l + a)%Z)
             by (intros a l; induction l as [|b l IHl]; simpl; [|rewrite IHl]; ring).
           rewrite (fold (x + 0)%Z), plus_IZR, Z.add_0_r. unfold Rdiv. ring.
        -- intros k I. apply in_seq in I. rewrite app_nth1 by lia. reflexivity.
    + intros k Ik. rewrite sum_map. unfold plan_mechanism, survey. simpl. rewrite sum_scal.
      rewrite (answers_one lv lw i mode); auto; [ring | apply menus_proper, Ik].
Qed.

Lemma epsilon_sound e : epsilon_of pl = Some e -> ldp lv lw plan_reports plan_mechanism (value e).
Proof.
  intros E. destruct (over_menus_facts _ _ _ E) as [s H].
  assert (M : forall k, In k numbers -> 0 < menu_chance k ->
            ldp lv lw (outputs (questions (menu_of k))) (answers (questions (menu_of k)) (codings_of k)) (value e)).
  { intros k Ik _. destruct (menus_proper k Ik) as [_ pr]. destruct (H _ (in_menus k Ik)) as [x [ex le]].
    specialize (le (ratios_sound _ _ ex)).
    assert (B := menu_epsilon_sound lv lw i mode _ _ _ pr ex (fits k Ik)).
    intros Ev HE v w v' w' Iv Iw Iv' Iw'. apply Rle_trans with (1 := B Ev HE v w v' w' Iv Iw Iv' Iw').
    apply Rmult_le_compat_r; [|exact le]. apply sum_nonneg; intros ys I.
    apply Rmult_le_pos; [destruct (HE ys) as [->| ->]; lra|]. apply (answers_pos lv lw i mode); auto. }
  intros Ev HE v w v' w' Iv Iw Iv' Iw'.
  apply (menus_compare numbers (fun k => outputs (questions (menu_of k))) menu_chance _ menu_chance_pos (value e)
           (fun f => f v w) (fun f => f v' w')); auto using linear_at.
  intros k Ik P Fv HF. apply M; assumption.
Qed.
Lemma c_sound c : mode = Values (shared pl i) -> c_of pl i = Some c -> cdp lv lw plan_reports plan_mechanism (value c).
Proof.
  intros about E. destruct (over_menus_facts _ _ _ E) as [s H].
  assert (M : forall k, In k numbers -> 0 < menu_chance k ->
            cdp lv lw (outputs (questions (menu_of k))) (answers (questions (menu_of k)) (codings_of k)) (value c)).
  { intros k Ik _. destruct (menus_proper k Ik) as [_ pr]. destruct (H _ (in_menus k Ik)) as [x [ex le]].
    destruct (menu_c_sound lv lw i mode (shared pl i) _ _ _ about pr (fits k Ik) ex) as [sx B]. specialize (le sx).
    intros Ev HE v v' w Iv Iv' Iw. apply Rle_trans with (1 := B Ev HE v v' w Iv Iv' Iw).
    apply Rmult_le_compat_r; [|exact le]. apply sum_nonneg; intros ys I.
    apply Rmult_le_pos; [destruct (HE ys) as [->| ->]; lra|]. apply (answers_pos lv lw i mode); auto. }
  intros Ev HE v v' w Iv Iv' Iw.
  apply (menus_compare numbers (fun k => outputs (questions (menu_of k))) menu_chance _ menu_chance_pos (value c)
           (fun f => f v w) (fun f => f v' w)); auto using linear_at.
  intros k Ik P Fv HF. apply M; assumption.
Qed.
Lemma delta_sound D pi : guessed mode (shared pl i) (spans_of pl i) -> is_prior lv lw pi -> plan_assumed pi ->
  delta_of pl i = Some D ->
  bcdp lv lw plan_reports pi plan_mechanism (value D).
Proof.
  intros about prior K E. destruct (over_menus_facts _ _ _ E) as [s H]. assert (pos := proj1 prior).
  assert (M : forall k, In k numbers -> 0 < menu_chance k ->
            bcdp lv lw (outputs (questions (menu_of k))) pi (answers (questions (menu_of k)) (codings_of k)) (value D)).
  { intros k Ik _. destruct (menus_proper k Ik) as [_ pr]. destruct (H _ (in_menus k Ik)) as [x [ex le]].
    destruct (K k Ik) as [known [en kn]].
    destruct (menu_delta_sound lv lw i mode _ _ _ _ _ _ _ about pr (fits k Ik) prior en kn ex) as [sx B].
    specialize (le sx). intros Ev HE S S' HS HS' Ms Ms'. apply Rle_trans with (1 := B Ev HE S S' HS HS' Ms Ms').
    apply Rmult_le_compat_r; [|exact le]. apply div_nonneg; [|exact Ms'].
    apply sum_nonneg; intros v Iv. apply sum_nonneg; intros w Iw.
    apply Rmult_le_pos; [apply Rmult_le_pos; [destruct (HS' v) as [->| ->]; lra | apply pos]|].
    apply sum_nonneg; intros ys I.
    apply Rmult_le_pos; [destruct (HE ys) as [->| ->]; lra|]. apply (answers_pos lv lw i mode); auto. }
  intros Ev HE S S' HS HS' Ms Ms'.
  apply (menus_compare numbers (fun k => outputs (questions (menu_of k))) menu_chance _ menu_chance_pos (value D)
           (fun f => chance lv lw pi f S) (fun f => chance lv lw pi f S')); auto using linear_chance.
  intros k Ik P Fv HF. apply M; assumption.
Qed.
End Plan.

(* All of it: what `levels_of` prints for a plan bounds what the plan's tables tell, for every feature, every finite set
   of values, every device that codes values into the plan's levels, and every prior within what the plan assumes. Where
   the plan states ranges of a feature, c is about its values, delta about guesses which range it is in. *)
Theorem checker_sound pl e levels i c d :
  levels_of pl = Some (e, levels) -> nth_error levels i = Some (c, d) ->
  forall (V W : Type) (lv : list V) (lw : list W) mode device, fits_plan lv lw pl i mode device ->
  (forall x, e = Some x -> ldp lv lw (plan_reports pl) (plan_mechanism pl device) (value x)) /\
  (forall x, c = Some x -> mode = Values (shared pl i) ->
     cdp lv lw (plan_reports pl) (plan_mechanism pl device) (value x)) /\
  (forall x, d = Some x -> guessed mode (shared pl i) (spans_of pl i) ->
     forall pi, is_prior lv lw pi -> plan_assumed lv lw pl i device pi ->
     bcdp lv lw (plan_reports pl) pi (plan_mechanism pl device) (value x)).
Proof.
  intros E N V W lv lw mode device fits. unfold levels_of in E. destruct (proper_plan pl) eqn:P; [|discriminate].
  inversion E; subst. clear E.
  rewrite nth_error_map in N. destruct (nth_error (seq 0 (length (shares pl))) i) as [j|] eqn:J; [|discriminate].
  assert (j = i).
  { assert (h : (i < length (seq 0 (length (shares pl))))%nat) by (apply nth_error_Some; congruence).
    rewrite seq_length in h. apply (nth_error_nth _ _ 0%nat) in J. rewrite seq_nth in J by exact h. auto. }
  subst j. inversion N. split; [|split].
  - intros x H. apply (epsilon_sound lv lw pl i mode); assumption.
  - intros x H about. apply (c_sound lv lw pl i mode); assumption.
  - intros x H about pi prior K. apply (delta_sound lv lw pl i mode); assumption.
Qed.
