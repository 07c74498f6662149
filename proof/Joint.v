(* A feature in a menu: joint tables and known laws. *)
Require Import Reals Lra List ZArith Lia Bool.
Import ListNotations.
Require Import Sums Notions Variation Certificate Questions Parts Checker Device Kept Sound.
Open Scope R_scope.

Lemma sum_row (row : list Z) (f : nat -> Z) n : length row = n ->
  sum (fun a => IZR (number a row) * IZR (f a)) (seq 0 n) = IZR (law_weight row (map f (seq 0 n))).
Proof.
  intros <-. unfold law_weight.
  enough (H : forall row k, sum (fun a => IZR (number (a - k) row) * IZR (f a)) (seq k (length row))
            = IZR (fold_right Z.add 0%Z (map (fun x => (fst x * snd x)%Z) (combine row (map f (seq k (length row))))))).
  { rewrite <- (H row 0%nat). apply sum_ext; intro a. rewrite Nat.sub_0_r. reflexivity. }
  clear row. induction row as [|x row IH]; intro k; [reflexivity|]. simpl. rewrite plus_IZR, mult_IZR, <- (IH (S k)).
  rewrite Nat.sub_diag. unfold number at 1. simpl. f_equal. apply sum_eq; intros a I. apply in_seq in I.
  replace (a - k)%nat with (S (a - S k)) by lia. reflexivity.
Qed.

Section Menu.
Context {V W : Type} (lv : list V) (lw : list W) (i : nat) (mode : @guesses V).
Notation coding := (@coding V W).
Notation fits_menu := (fits_menu lv lw i mode).
Notation other := (other i).

(* ---- Joint tables ---- *)
Lemma put_vectors ks p a l : place i ks = Some p -> In l (masked i ks) -> In a (own_levels p ks) ->
  In (put p a l) (vectors ks).
Proof.
  assert (cons_in : forall (s : list nat) r b l, In b s -> In l (tuples r) -> In (b :: l) (tuples (s :: r))).
  { intros s r b x I J. simpl. apply in_flat_map. exists b. split; [exact I | apply in_map, J]. }
  revert p l. induction ks as [|k ks IH]; intros p l E I J; [discriminate|]. simpl in E.
  unfold masked in I. simpl map in I. apply in_tuples in I. destruct I as [b [l' [-> [Ib I]]]].
  destruct (concerns i k) eqn:C.
  - destruct (features k) as [|j [|? ?]]; try discriminate. destruct (existsb (concerns i) ks) eqn:E'; [discriminate|].
    inversion E; subst p. apply cons_in; [exact J|]. fold (masked i ks) in I.
    rewrite masked_vectors in I by exact E'. exact I.
  - destruct (place i ks) as [p'|] eqn:E'; [|discriminate]. inversion E; subst p.
    apply (cons_in (levels k) (map levels ks)); [exact Ib|]. apply (IH p' l' eq_refl I J).
Qed.

Section Joint.
Variables (qs : list question) (css : list (list coding)) (qn : question) (p : nat).
Hypothesis pr : all_proper qs.
Hypothesis F : fits_menu qs css.
Hypothesis unique : filter (own i) qs = [qn].
Hypothesis at_place : place i (coordinates qn) = Some p.

Lemma own_proper : proper qn = true.
Proof.
  assert (I : In qn (filter (own i) qs)) by (rewrite unique; left; reflexivity). apply filter_In in I.
  apply (proj1 (Forall_forall _ _) pr), I.
Qed.

Section OneOutput.
Variables (k : coordinate) (y : nat) (ys : list nat).
Hypothesis at_k : nth_error (coordinates qn) p = Some k.
Hypothesis Iy : In y (symbols qn).
Hypothesis values : forall z, In z (menu_masked i qs) -> In (own_vector i qs z) (masked i (coordinates qn)) /\
  forall a, own_part i p a qs ys z = symbol_chance qn (put p a (own_vector i qs z)) y.
Lemma own_levels_k : own_levels p (coordinates qn) = levels k.
Proof. unfold own_levels. rewrite at_k. reflexivity. Qed.
Lemma own_part_pos a z : In a (levels k) -> In z (menu_masked i qs) -> 0 <= own_part i p a qs ys z.
Proof.
  intros Ia Iz. destruct (values z Iz) as [Il ->]. apply symbol_pos; [apply own_proper| |exact Iy].
  apply put_vectors; [exact at_place | exact Il|]. rewrite own_levels_k. exact Ia.
Qed.
Lemma own_compares ls shares_levels q odds rest D a a' m (h : list (list nat) -> R) :
  joint_level i qn p shares_levels q odds (Some rest) = Some D -> sound_fraction rest ->
  In a (levels k) -> In a' (levels k) -> (shares_levels = true \/ a <> a') ->
  (forall z, In z ls -> In z (menu_masked i qs)) -> 0 <= m -> (forall z, In z ls -> m <= h z <= value rest * m) ->
  compares ls (value q) (real_odds odds) (value D)
    (fun z => own_part i p a qs ys z * h z) (fun z => own_part i p a' qs ys z * h z).
Proof.
  intros E sr Ia Ia' sh inside m0 hm.
  destruct (joint_level_facts i shares_levels qn p q odds rest D E) as [s [B [O C]]].
  apply compares_ext with (fun z => IZR (cell qn (put p a (own_vector i qs z)) y) / IZR total * h z)
    (fun z => IZR (cell qn (put p a' (own_vector i qs z)) y) / IZR total * h z).
  1, 2: intros z Iz; destruct (values z (inside z Iz)) as [_ ->]; reflexivity.
  apply (kept_compares ls (own_vector i qs) (masked i (coordinates qn)) (fun l => cell qn (put p a l) y)
           (fun l => cell qn (put p a' l) y)) with rest m; auto using total_pos.
  - apply C; rewrite ?own_levels_k; assumption.
  - intros z Iz. apply values, inside, Iz.
Qed.
Lemma other_pos z : In ys (outputs qs) -> In z (menu_masked i qs) -> 0 <= part_seen other qs ys z.
Proof.
  clear - pr. revert ys z. induction pr as [|q0 qs Hp pr' IH]; intros ys z I Iz; [simpl; lra|].
  apply in_tuples in I. destruct I as [y [ys' [-> [Iy I]]]]. apply in_tuples in Iz.
  destruct Iz as [l [z' [-> [Il Iz]]]].
  simpl. apply Rmult_le_pos; [|apply IH; assumption]. destruct (other q0) eqn:o; [|lra].
  apply symbol_pos; auto. rewrite masked_vectors in Il; [exact Il|]. apply negb_true_iff, o.
Qed.
End OneOutput.

(* ---- Guesses about values ---- *)
Section GuessesAboutValues.
Variable shares_levels : bool.
Hypothesis about_values : mode = Values shares_levels.

(* The level of the feature is mixed in the same way for all others, or it is the value itself. *)
Lemma own_mixture k c : fits_coordinate lv lw i mode k c -> features k = [i] ->
  exists rho, (forall v w a, level_chance c v w a = rho v a) /\ (forall v a, 0 <= rho v a) /\
  (forall v, In v lv -> sum (rho v) (levels k) = 1) /\
  forall v v', In v lv -> In v' lv ->
  (shares_levels = true) \/
  (exists b b', In b (levels k) /\ In b' (levels k) /\ (b = b' -> v = v') /\
     forall x : nat -> R, sum (fun a => rho v a * x a) (levels k) = x b /\
       sum (fun a => rho v' a * x a) (levels k) = x b').
Proof.
  intros Fc f. subst mode. destruct c as [rho|sigma|kappa]; simpl in Fc.
  2: { destruct Fc as [n _]. rewrite concerns_itself in n by exact f. discriminate. }
  2: { destruct Fc as [_ [_ [_ n]]]. destruct (n f). }
  destruct Fc as [_ [pos [one own]]]. exists rho. split; [reflexivity|]. split; [exact pos|]. split; [exact one|].
  intros v v' Iv Iv'. destruct shares_levels; [left; reflexivity|right].
  destruct (own eq_refl) as [level [L1 [L2 L3]]]. exists (level v), (level v').
  split; [auto|]. split; [auto|]. split; [auto|]. intro x. split.
  - rewrite <- (sum_point Nat.eq_dec x (levels k) (level v)); [|apply seq_NoDup | auto].
    apply sum_ext; intro a. rewrite L3 by exact Iv. reflexivity.
  - rewrite <- (sum_point Nat.eq_dec x (levels k) (level v')); [|apply seq_NoDup | auto].
    apply sum_ext; intro a. rewrite L3 by exact Iv'. reflexivity.
Qed.


Lemma joint_cdp D : joint_level i qn p shares_levels (0%Z, 1%Z) None (Some (1%Z, 1%Z)) = Some D ->
  cdp lv lw (outputs qs) (answers qs css) (value D).
Proof.
  intros E e He v v' w Iv Iv' Iw. apply from_outputs; [|exact He]. intros ys I.
  assert (s1 : sound_fraction (1, 1)%Z) by (split; reflexivity || (simpl; lia)).
  destruct (joint_level_facts i shares_levels qn p _ _ _ D E) as [s _]. assert (D1 := value_one _ s).
  destruct (joint_seen lv lw i mode qs css qn p F unique at_place) as [k [c [at_k [itself [Fc H]]]]].
  destruct (own_mixture k c Fc itself) as [rho [er [rpos [rone mix]]]].
  destruct (H ys I) as [sums [y [Iy values]]]. rewrite !sums by exact Iw.
  apply lemma_1; intros z Iz. rewrite <- Rmult_assoc, (Rmult_comm (value D)), Rmult_assoc.
  apply Rmult_le_compat_l; [apply (sees_menu_pos lv lw i mode qs), F|].
  rewrite (sum_ext (fun a => level_chance c v w a * _)
    (fun a => rho v a * (own_part i p a qs ys z * part_seen other qs ys z)))
    by (intro a; rewrite er; reflexivity).
  rewrite (sum_ext (fun a => level_chance c v' w a * _)
    (fun a => rho v' a * (own_part i p a qs ys z * part_seen other qs ys z)))
    by (intro a; rewrite er; reflexivity).
  assert (h0 := other_pos ys z I Iz).
  assert (x0 : forall a, In a (levels k) -> 0 <= own_part i p a qs ys z * part_seen other qs ys z).
  { intros a Ia. apply Rmult_le_pos; [apply (own_part_pos k y ys at_k Iy values a z Ia Iz) | exact h0]. }
  assert (pair : forall a a', In a (levels k) -> In a' (levels k) -> (shares_levels = true \/ a <> a') ->
            own_part i p a qs ys z * part_seen other qs ys z
            <= value D * (own_part i p a' qs ys z * part_seen other qs ys z)).
  { intros a a' Ia Ia' sh.
    assert (one : value (1%Z, 1%Z) = 1) by (unfold value; simpl; field).
    assert (B := own_compares k y ys at_k Iy values [z] shares_levels _ None _ D a a' (part_seen other qs ys z)
      (fun _ => part_seen other qs ys z) E s1 Ia Ia' sh).
    specialize (B ltac:(intros z' [<-|[]]; exact Iz) h0 ltac:(intros z' _; rewrite one; lra) (fun _ => 1) (fun _ => 1)).
    assert (law : is_law [z] (fun _ => 1)) by (split; [intro; lra | simpl; ring]). specialize (B law law).
    simpl in B. rewrite !Rmult_1_l, !Rplus_0_r in B. apply B. rewrite tv_same by exact law. unfold value. simpl. lra. }
  destruct (mix v v' Iv Iv') as [sh|[b [b' [Ib [Ib' [eq ev]]]]]].
  - apply mixtures; auto.
  - destruct (ev (fun a => own_part i p a qs ys z * part_seen other qs ys z)) as [-> ->].
    destruct (Nat.eq_dec b b') as [<-|n]; [|apply pair; auto].
    specialize (x0 b Ib). set (x := own_part i p b qs ys z * part_seen other qs ys z) in *.
    assert (0 <= (value D - 1) * x) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma joint_bcdp pi q odds rest D : is_prior lv lw pi -> ratios (rest_of i qs) = Some rest ->
  joint_level i qn p shares_levels q odds (Some rest) = Some D ->
  seen_within lv lw (menu_masked i qs) pi (sees_menu css) (value q) (real_odds odds) ->
  bcdp lv lw (outputs qs) pi (answers qs css) (value D).
Proof.
  intros [pos _] Er E near. assert (sr := ratios_sound _ _ Er).
  destruct (joint_level_facts i shares_levels qn p q odds rest D E) as [s _]. assert (D1 := value_one _ s).
  destruct (joint_seen lv lw i mode qs css qn p F unique at_place) as [k [c [at_k [itself [Fc H]]]]].
  destruct (own_mixture k c Fc itself) as [rho [er [rpos [rone mix]]]].
  apply from_values; [exact pos|]. intros ys v v' I Iv Iv' P P'.
  destruct (H ys I) as [sums [y [Iy values]]]. destruct (other_between i qs rest ys pr Er I) as [m [m0 hm]].
  set (f := fun a z => own_part i p a qs ys z * part_seen other qs ys z).
  assert (pair : forall a a', In a (levels k) -> In a' (levels k) -> (shares_levels = true \/ a <> a') ->
            compares (menu_masked i qs) (value q) (real_odds odds) (value D) (f a) (f a')).
  { intros a a' Ia Ia' sh. apply (own_compares k y ys at_k Iy values _ shares_levels q odds rest D a a' m); auto. }
  assert (bound : forall x x', In x lv -> In x' lv -> 0 < share lw pi x -> 0 < share lw pi x' ->
            compares (menu_masked i qs) (value q) (real_odds odds) (value D)
              (fun z => sum (fun a => rho x a * f a z) (levels k))
              (fun z => sum (fun a => rho x' a * f a z) (levels k)) ->
            given lw pi (fun a z => answers qs css a z ys) x
            <= value D * given lw pi (fun a z => answers qs css a z ys) x').
  { intros x x' Ix Ix' Px Px' st.
    apply (seen_compare lv lw (menu_masked i qs) pi (sees_menu css) pos) with (q := value q) (K := real_odds odds)
      (F := fun z => sum (fun a => rho x a * f a z) (levels k))
      (G := fun z => sum (fun a => rho x' a * f a z) (levels k));
      auto; try lra.
    - intros w z. apply (sees_menu_pos lv lw i mode qs), F.
    - intros w Iw. apply (sees_menu_one lv lw i mode); assumption.
    - intros w Iw. rewrite sums by exact Iw. right. apply sum_ext; intro z. f_equal. apply sum_ext; intro a.
      rewrite er. reflexivity.
    - intros w Iw. rewrite sums by exact Iw. right. apply sum_ext; intro z. f_equal. apply sum_ext; intro a.
      rewrite er. reflexivity. }
  destruct (mix v v' Iv Iv') as [sh|[b [b' [Ib [Ib' [eq ev]]]]]].
  - apply bound; auto. apply compares_mixed; auto.
  - destruct (Nat.eq_dec b b') as [e|n].
    + rewrite (eq e) in *.
      assert (0 <= given lw pi (fun a z => answers qs css a z ys) v').
      { apply sum_nonneg; intros w Iw. apply Rmult_le_pos; [apply cond_pos; assumption|].
        apply (answers_pos lv lw i mode); assumption. }
      assert (0 <= (value D - 1) * given lw pi (fun a z => answers qs css a z ys) v') by (apply Rmult_le_pos; lra). lra.
    + apply bound; auto. apply compares_ext with (f b) (f b'); auto.
      * intros z _. destruct (ev (fun a => f a z)) as [-> _]. reflexivity.
      * intros z _. destruct (ev (fun a => f a z)) as [_ ->]. reflexivity.
Qed.
End GuessesAboutValues.

(* ---- Guesses about ranges ---- *)
Section GuessesAboutRanges.
Variables (sp : spans) (index : V -> nat).
Hypothesis about_ranges : mode = Ranges sp index.

Lemma range_level_bcdp pi q odds rest D : is_prior lv lw pi -> ratios (rest_of i qs) = Some rest ->
  range_level i qn p sp q odds (Some rest) = Some D ->
  seen_within lv lw (menu_masked i qs) pi (sees_menu css) (value q) (real_odds odds) ->
  bcdp lv lw (outputs qs) pi (answers qs css) (value D).
Proof.
  intros [pos _] Er E near. assert (sr := ratios_sound _ _ Er).
  destruct (joint_seen lv lw i mode qs css qn p F unique at_place) as [k [c [at_k [itself [Fc H]]]]].
  destruct (range_level_facts i qn p sp q odds rest D k E at_k) as [s [Bq [Bo [rows [T [e_rows [R C]]]]]]].
  assert (D1 := value_one _ s).
  (* the coding of the feature *)
  destruct c as [rho|sigma|kappa]; simpl in Fc.
  { rewrite about_ranges in Fc. destruct Fc as [_ [_ [_ []]]]. }
  { destruct Fc as [n _]. rewrite concerns_itself in n by exact itself. discriminate. }
  destruct Fc as [_ [_ [_ ranged]]]. specialize (ranged itself). rewrite about_ranges in ranged.
  destruct ranged as [inj mix].
  (* the rows of a range *)
  apply andb_true_iff in R. destruct R as [T0 R]. apply Z.ltb_lt in T0. assert (T0' := IZR_lt _ _ T0).
  assert (row_ok : forall b row, (b < length rows)%nat -> In row (nth b rows []) ->
            (forall x, In x row -> (0 <= x)%Z) /\ law_total row = T /\ length row = size k).
  { intros b row Hb I. assert (J : In (nth b rows []) rows) by (apply nth_In, Hb).
    apply (proj1 (forallb_forall _ _) R) in J. apply (proj1 (forallb_forall _ _) J) in I.
    apply andb_true_iff in I. destruct I as [I n]. apply andb_true_iff in I. destruct I as [I t].
    apply Nat.eqb_eq in n. apply Z.eqb_eq in t. split; [|auto].
    intros x K. apply Z.leb_le, (proj1 (forallb_forall _ _) I), K. }
  apply from_values; [exact pos|]. intros ys v v' I Iv Iv' P P'.
  destruct (H ys I) as [sums [y [Iy values]]]. destruct (other_between i qs rest ys pr Er I) as [m [m0 hm]].
  set (high := fun b l => IZR (most_of (map (fun row => row_cell qn p y row l) (nth b rows []))) / (IZR T * IZR total)).
  set (low := fun b l => IZR (least_of (map (fun row => row_cell qn p y row l) (nth b rows []))) / (IZR T * IZR total)).
  assert (TT : 0 < IZR T * IZR total) by (apply Rmult_lt_0_compat; [exact T0' | apply total_pos]).
  assert (row_pos : forall b row l, (b < length rows)%nat -> In row (nth b rows []) ->
            In l (masked i (coordinates qn)) ->
            (0 <= row_cell qn p y row l)%Z).
  { intros b row l Hb Ir Il. destruct (row_ok b row Hb Ir) as [x0 _]. unfold row_cell, law_weight.
    assert (cell0 : forall x, In x (map (fun a => cell qn (put p a l) y) (own_levels p (coordinates qn))) ->
              (0 <= x)%Z).
    { intros x Ix. apply in_map_iff in Ix. destruct Ix as [a [<- Ia]].
      apply proper_cells; [apply own_proper| |exact Iy].
      apply put_vectors; assumption. }
    revert x0 cell0. generalize (map (fun a => cell qn (put p a l) y) (own_levels p (coordinates qn))).
    clear. induction row as [|x row IH]; intros [|z l0] x0 c0; simpl; try lia.
    assert (0 <= x)%Z by (apply x0; left; reflexivity). assert (0 <= z)%Z by (apply c0; left; reflexivity).
    assert (0 <= fold_right Z.add 0 (map (fun x => (fst x * snd x)%Z) (combine row l0)))%Z
      by (apply IH; intros; [apply x0 | apply c0]; right; assumption). nia. }
  (* what a number of the range says is between its extremes *)
  assert (between_rows : forall x w l, In x lv -> In w lw -> In l (masked i (coordinates qn)) ->
            low (index x) l <= sum (fun a => kappa x w a * symbol_chance qn (put p a l) y) (levels k)
              <= high (index x) l).
  { intros x w l Ix Iw Il. destruct (mix rows x w e_rows Ix Iw) as [Hb [t [t0 [t1 et]]]].
    set (part := nth (index x) rows []) in *.
    assert (em : sum (fun a => kappa x w a * symbol_chance qn (put p a l) y) (levels k)
              = sum (fun row => t row * (IZR (row_cell qn p y row l) / (IZR T * IZR total))) part).
    { transitivity (sum (fun a => sum (fun row => t row * (IZR (number a row) / IZR (law_total row)
                                                      * symbol_chance qn (put p a l) y)) part) (levels k)).
      - apply sum_eq; intros a Ia. rewrite (et a Ia), Rmult_comm, <- sum_scal. apply sum_ext; intro row. ring.
      - rewrite sum_swap. apply sum_eq; intros row Ir. rewrite sum_scal. f_equal.
        destruct (row_ok _ row Hb Ir) as [_ [et' n]]. rewrite et'.
        unfold row_cell. rewrite (own_levels_k k at_k). unfold levels.
        rewrite <- (sum_row row (fun a => cell qn (put p a l) y) (size k) n). unfold Rdiv.
        rewrite Rmult_comm, <- sum_scal. apply sum_ext; intro a. unfold symbol_chance. field.
        assert (B := total_pos). lra. }
    rewrite em. split.
    - rewrite <- (Rmult_1_r (low _ l)), <- t1, <- sum_scal. apply sum_le; intros row Ir.
      rewrite Rmult_comm. apply Rmult_le_compat_l; [apply t0|].
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, TT|].
      apply IZR_le, least_of_le, (in_map (fun row => row_cell qn p y row l)), Ir.
    - rewrite <- (Rmult_1_r (high _ l)), <- t1, <- sum_scal. apply sum_le; intros row Ir.
      rewrite (Rmult_comm (high _ l)). apply Rmult_le_compat_l; [apply t0|].
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, TT|].
      apply IZR_le, most_of_le, (in_map (fun row => row_cell qn p y row l)), Ir. }
  assert (HW : exists w, In w lw) by (apply (sum_pos_inhabited (pi v)); exact P). destruct HW as [w0 Iw0].
  destruct (mix rows v w0 e_rows Iv Iw0) as [Hb _]. destruct (mix rows v' w0 e_rows Iv' Iw0) as [Hb' _].
  destruct (Nat.eq_dec (index v) (index v')) as [e|n].
  - rewrite (inj v v' Iv Iv' e) in *.
    assert (0 <= given lw pi (fun a z => answers qs css a z ys) v').
    { apply sum_nonneg; intros w Iw. apply Rmult_le_pos; [apply cond_pos; assumption|].
      apply (answers_pos lv lw i mode); assumption. }
    assert (0 <= (value D - 1) * given lw pi (fun a z => answers qs css a z ys) v') by (apply Rmult_le_pos; lra). lra.
  - assert (as_sum : forall x w, In x lv -> In w lw -> answers qs css x w ys
              = sum (fun z => sees_menu css w z
                  * (sum (fun a => kappa x w a * symbol_chance qn (put p a (own_vector i qs z)) y) (levels k)
                     * part_seen other qs ys z)) (menu_masked i qs)).
    { intros x w Ix Iw. rewrite sums by exact Iw. apply sum_eq; intros z Iz. f_equal.
      rewrite (Rmult_comm (sum _ _)), <- sum_scal. apply sum_ext; intro a. destruct (values z Iz) as [_ ->].
      simpl. ring. }
    apply (seen_compare lv lw (menu_masked i qs) pi (sees_menu css) pos) with (q := value q) (K := real_odds odds)
      (F := fun z => high (index v) (own_vector i qs z) * part_seen other qs ys z)
      (G := fun z => low (index v') (own_vector i qs z) * part_seen other qs ys z); auto; try lra.
    + intros w z. apply (sees_menu_pos lv lw i mode qs), F.
    + intros w Iw. apply (sees_menu_one lv lw i mode); assumption.
    + intros w Iw. rewrite as_sum by assumption. apply sum_le; intros z Iz.
      apply Rmult_le_compat_l; [apply (sees_menu_pos lv lw i mode qs), F|].
      apply Rmult_le_compat_r; [apply (other_pos ys z I Iz)|].
      apply (between_rows v w (own_vector i qs z) Iv Iw), values, Iz.
    + intros w Iw. rewrite as_sum by assumption. apply sum_le; intros z Iz.
      apply Rmult_le_compat_l; [apply (sees_menu_pos lv lw i mode qs), F|].
      apply Rmult_le_compat_r; [apply (other_pos ys z I Iz)|].
      apply (between_rows v' w (own_vector i qs z) Iv' Iw), values, Iz.
    + apply (kept_compares (menu_masked i qs) (own_vector i qs) (masked i (coordinates qn))
               (fun l => most_of (map (fun row => row_cell qn p y row l) (nth (index v) rows [])))
               (fun l => least_of (map (fun row => row_cell qn p y row l) (nth (index v') rows []))))
        with rest m; auto.
      * apply (C y (index v) (index v')); assumption.
      * intros z Iz. apply values, Iz.
Qed.
End GuessesAboutRanges.
End Joint.

(* ---- Known laws (Lemma 3) ---- *)
Definition row_law (row : list Z) (z : list (list nat)) : R :=
  match z with [[a]] => IZR (number a row) / IZR (law_total row) | _ => 0 end.

Lemma told_bcdp qs css pi rows D : all_proper qs -> fits_menu qs css -> is_prior lv lw pi ->
  told_level i qs rows = Some D ->
  mixture_of_rows lv lw (menu_masked i qs) rows pi (sees_menu css) row_law ->
  bcdp lv lw (outputs qs) pi (answers qs css) (value D).
Proof.
  intros pr F prior E mix. destruct qs as [|qn [|? ?]]; try discriminate. simpl in E.
  destruct (coordinates qn) as [|k [|? ?]] eqn:ck; try discriminate.
  destruct (negb (concerns i k) && negb (Nat.eqb (length rows) 0) && _) eqn:C; [|discriminate].
  apply andb_true_iff in C. destruct C as [C rows_ok]. apply andb_true_iff in C. destruct C as [nk _].
  apply negb_true_iff in nk. apply checked_facts in E. destruct E as [s [C _]].
  assert (pos := proj1 prior).
  set (table := fun (z : list (list nat)) ys => part_seen other [qn] ys z).
  assert (not_own : own i qn = false) by (unfold own; rewrite ck; simpl; rewrite nk; reflexivity).
  assert (is_answer : forall ys v w, In ys (outputs [qn]) -> In w lw ->
            answers [qn] css v w ys = one_answer (menu_masked i [qn]) (sees_menu css) table v w ys).
  { intros ys v w I Iw. rewrite (answers_split i), no_own, Rmult_1_l by (simpl; rewrite not_own; reflexivity).
    apply (other_seen lv lw i mode); assumption. }
  apply from_values; [exact pos|]. intros ys v v' I Iv Iv' P P'.
  assert (same : forall x, given lw pi (fun a z => answers [qn] css a z ys) x
            = given lw pi (fun a z => one_answer (menu_masked i [qn]) (sees_menu css) table a z ys) x).
  { intro x. apply sum_eq; intros w Iw. rewrite is_answer by assumption. reflexivity. }
  rewrite !same. apply (mixtures_of_rows lv lw _ rows pi _ table row_law); auto. intros row row' J J'.
  apply in_tuples in I. destruct I as [y [ys' [-> [Iy I]]]]. destruct I as [<-|[]].
  { assert (ok : forall r, In r rows -> (0 < law_total r)%Z /\ length r = size k).
    { intros r K. apply (proj1 (forallb_forall _ _) rows_ok) in K. apply andb_true_iff in K. destruct K as [K n].
      apply andb_true_iff in K. destruct K as [_ K]. apply Z.ltb_lt in K. apply Nat.eqb_eq in n. auto. }
    assert (T := total_pos).
    assert (value_told : forall r, In r rows -> told (menu_masked i [qn]) table row_law r [y]
              = IZR (law_weight r (cells qn y)) / (IZR (law_total r) * IZR total)).
    { intros r K. destruct (ok r K) as [t n]. apply IZR_lt in t. unfold told, menu_masked, masked.
      simpl map. rewrite ck. simpl map. rewrite nk.
      rewrite sum_tuples. rewrite (sum_ext _ (fun l => row_law r [l] * table [l] [y])) by (intro l; simpl; ring).
      rewrite sum_tuples.
      rewrite (sum_ext _ (fun a => / (IZR (law_total r) * IZR total) * (IZR (number a r) * IZR (cell qn [a] y)))).
      2: { intro a. unfold table. simpl. unfold Device.other. rewrite not_own. simpl.
           unfold symbol_chance. field. lra. }
      rewrite sum_scal. unfold levels. rewrite (sum_row r (fun a => cell qn [a] y) (size k) n).
      assert (cs : cells qn y = map (fun a => cell qn [a] y) (seq 0 (size k))).
      { unfold cells, vectors. rewrite ck. unfold levels. simpl.
        induction (seq 0 (size k)) as [|a l IH]; [reflexivity|]. simpl. rewrite IH. reflexivity. }
      rewrite cs. unfold Rdiv. ring. }
    rewrite !value_told by assumption. destruct (ok row J) as [t n]. destruct (ok row' J') as [t' n'].
    assert (M : at_most (law_weight row (cells qn y) * law_total row',
                         law_weight row' (cells qn y) * law_total row)%Z D = true).
    { apply (proj1 (forallb_forall _ _) C). apply in_flat_map.
      exists (map (fun r => (law_weight r (cells qn y), law_total r)) rows).
      split; [apply (in_map (fun y => map (fun r => (law_weight r (cells qn y), law_total r)) rows)), Iy|].
      apply in_flat_map. exists (law_weight row (cells qn y), law_total row).
      split; [apply (in_map (fun r => (law_weight r (cells qn y), law_total r))), J|].
      apply in_map_iff. exists (law_weight row' (cells qn y), law_total row'). split; [reflexivity|].
      apply (in_map (fun r => (law_weight r (cells qn y), law_total r))), J'. }
    apply at_most_value in M; [|apply s]. simpl in M. rewrite !mult_IZR in M. apply IZR_lt in t. apply IZR_lt in t'.
    apply Rmult_le_reg_r with (IZR (law_total row) * IZR (law_total row') * IZR total).
    { apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption. }
    replace (IZR (law_weight row (cells qn y)) / (IZR (law_total row) * IZR total)
             * (IZR (law_total row) * IZR (law_total row') * IZR total))
      with (IZR (law_weight row (cells qn y)) * IZR (law_total row')) by (field; lra).
    replace (value D * (IZR (law_weight row' (cells qn y)) / (IZR (law_total row') * IZR total))
             * (IZR (law_total row) * IZR (law_total row') * IZR total))
      with (value D * (IZR (law_weight row' (cells qn y)) * IZR (law_total row))) by (field; lra).
    exact M. }
Qed.
End Menu.
