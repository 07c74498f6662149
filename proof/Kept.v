(* The integers of Checker.v: what a check of fractions says about real numbers, and about laws within q and odds. *)
Require Import Reals Lra List ZArith Lia Bool.
Import ListNotations.
Require OddsCertificate.
Require Import Sums Notions Parts Checker.
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

Lemma proper_bound_facts q : proper_bound q = true -> (0 <= fst q <= snd q)%Z /\ (0 < snd q)%Z /\ 0 <= value q <= 1.
Proof.
  intros H. unfold proper_bound in H. rewrite !andb_true_iff, !Z.leb_le, Z.ltb_lt in H. destruct H as [[H0 H1] H2].
  split; [lia|]. split; [exact H2|]. apply IZR_le in H0. apply IZR_le in H1. apply IZR_lt in H2. unfold value. split.
  - apply div_nonneg; assumption.
  - apply Rmult_le_reg_r with (IZR (snd q)); [exact H2|].
    replace (IZR (fst q) / IZR (snd q) * IZR (snd q)) with (IZR (fst q)) by (field; lra). lra.
Qed.

(* ---- q and odds ---- *)
Definition real_odds (odds : option fraction) := option_map value odds.
Lemma moved_facts q odds : proper_bound q = true -> proper_odds odds = true ->
  (0 <= least (moved q odds) <= most (moved q odds))%Z /\ (0 <= common (moved q odds))%Z /\
  (0 < mass (moved q odds))%Z /\
  let part := fun n => IZR n / IZR (mass (moved q odds)) in
  part_masses (value q) (real_odds odds)
    (part (most (moved q odds))) (part (least (moved q odds))) (part (common (moved q odds))).
Proof.
  intros B O. destruct (proper_bound_facts q B) as [Bq [Bq' _]]. assert (Q0 := IZR_lt _ _ Bq').
  destruct odds as [k|]; simpl in O.
  2: { unfold mass. simpl. replace (fst q + 0 + (snd q - fst q))%Z with (snd q) by ring. unfold value.
       rewrite minus_IZR. repeat split; try lia; unfold Rdiv; field; lra. }
  apply andb_true_iff in O. destruct O as [k0 k1]. apply Z.ltb_lt in k0. apply Z.leb_le in k1. simpl.
  assert (K0 := IZR_lt _ _ k0). destruct (fst k <=? snd k)%Z eqn:E.
  { apply Z.leb_le in E. unfold mass. simpl. repeat split; try lia. left. unfold value.
    replace (fst k) with (snd k) by lia. repeat split; unfold Rdiv; field; lra. }
  apply Z.leb_gt in E. assert (E' := IZR_lt _ _ E).
  set (by_q := (fst q * snd k, snd q * (fst k - snd k))%Z). set (by_odds := (snd k, fst k + snd k)%Z).
  set (x := if at_most by_q by_odds then by_q else by_odds).
  assert (x0 : (0 <= fst x)%Z) by (unfold x, by_q, by_odds; destruct (at_most _ _); simpl; nia).
  assert (x1 : (0 < snd x)%Z) by (unfold x, by_q, by_odds; destruct (at_most _ _); simpl; nia).
  assert (x2 : ((fst k + snd k) * fst x <= snd k * snd x)%Z).
  { unfold x. destruct (at_most by_q by_odds) eqn:A;
      [apply Z.leb_le in A|]; unfold by_q, by_odds in *; simpl in *; lia. }
  assert (X1 := IZR_lt _ _ x1).
  assert (r : OddsCertificate.ray (value q) (value k) = value x).
  { assert (vq : value q / (value k - 1) = value by_q).
    { unfold value, by_q. simpl. rewrite !mult_IZR, minus_IZR. field. repeat split; lra. }
    assert (vo : 1 / (value k + 1) = value by_odds).
    { unfold value, by_odds. simpl. rewrite plus_IZR. field. repeat split; lra. }
    assert (d : (0 < snd by_q)%Z /\ (0 < snd by_odds)%Z) by (unfold by_q, by_odds; simpl; nia).
    unfold OddsCertificate.ray. rewrite vq, vo. unfold x. destruct (at_most by_q by_odds) eqn:A.
    - apply Rmin_left. apply at_most_le; [exact A | apply d | apply d].
    - apply Rmin_right. apply at_most_le; [|apply d | apply d]. apply Z.leb_gt in A. apply Z.leb_le. lia. }
  unfold mass. simpl.
  replace (fst k * fst x + snd k * fst x + (snd k * snd x - (fst k + snd k) * fst x))%Z with (snd k * snd x)%Z by ring.
  split; [nia|]. split; [lia|]. split; [nia|]. right. unfold OddsCertificate.rest. rewrite r. unfold value.
  rewrite minus_IZR, !mult_IZR, plus_IZR. split.
  - apply Rmult_lt_reg_r with (IZR (snd k)); [exact K0|].
    replace (IZR (fst k) / IZR (snd k) * IZR (snd k)) with (IZR (fst k)) by (field; lra). lra.
  - repeat split; field; repeat split; lra.
Qed.
Lemma highest_facts f points x : In x points -> (f x <= f (highest f points))%Z.
Proof.
  induction points as [|y points IH]; intros I; [contradiction|]. destruct points as [|z points].
  { destruct I as [->|[]]. simpl. lia. }
  change (highest f (y :: z :: points))
    with (if (f (highest f (z :: points)) <=? f y)%Z then y else highest f (z :: points)).
  destruct (f (highest f (z :: points)) <=? f y)%Z eqn:E; [apply Z.leb_le in E | apply Z.leb_gt in E];
    (destruct I as [->|I]; [lia | specialize (IH I); lia]).
Qed.
Lemma heard_value rest s d : sound_fraction rest -> 0 < d ->
  heard_most (value rest) (IZR s / d) <= IZR (heard rest s * s) / (d * IZR (snd rest)).
Proof.
  intros [r0 r1] Hd. apply IZR_lt in r0. apply IZR_le in r1. unfold heard_most, heard, value.
  assert (i : 0 < / (d * IZR (snd rest))) by (apply Rinv_0_lt_compat, Rmult_lt_0_compat; assumption).
  assert (e1 : IZR s / d = IZR (snd rest) * IZR s * / (d * IZR (snd rest))) by (field; lra).
  assert (e2 : IZR (fst rest) / IZR (snd rest) * (IZR s / d) = IZR (fst rest) * IZR s * / (d * IZR (snd rest)))
    by (field; lra).
  rewrite e2, e1. destruct (0 <? s)%Z eqn:E; [apply Z.ltb_lt in E | apply Z.ltb_ge in E];
    apply IZR_lt in E || apply IZR_le in E;
    rewrite mult_IZR; unfold Rdiv; apply Rmax_lub; (apply Rmult_le_compat_r; [lra|]);
    try (apply Req_le; reflexivity).
  - apply Rmult_le_compat_r; lra.
  - assert (0 <= (IZR (fst rest) - IZR (snd rest)) * - IZR s) by (apply Rmult_le_pos; lra). lra.
Qed.
(* X l and X' l: integers at two levels of the feature, at l of the others; N: what they are out of; h: the other
   answers. The check of integers compares laws within q and odds. *)
Lemma kept_compares {S} (ls : list S) (at_ : S -> list nat) L (X X' : list nat -> Z) N q odds rest D m (h : S -> R) :
  0 < N -> proper_bound q = true -> proper_odds odds = true -> sound_fraction D -> sound_fraction rest ->
  kept (moved q odds) rest D (pairs_of (map X L) (map X' L)) = true ->
  (forall z, In z ls -> In (at_ z) L) -> 0 <= m -> (forall z, In z ls -> m <= h z <= value rest * m) ->
  compares ls (value q) (real_odds odds) (value D)
    (fun z => IZR (X (at_ z)) / N * h z) (fun z => IZR (X' (at_ z)) / N * h z).
Proof.
  intros HN B O s sr C inside m0 hm. destruct (moved_facts q odds B O) as [_ [_ [T0 M]]].
  destruct (proper_bound_facts q B) as [_ [_ q01]]. assert (D1 := value_one _ s). simpl in M.
  set (ms := moved q odds) in *. set (points := pairs_of (map X L) (map X' L)) in *.
  apply parts_compare with (1 := q01) (3 := M); [lra|].
  set (top := fun x => surplus D x (highest (surplus D x) points)).
  assert (T0' := IZR_lt _ _ T0). destruct s as [d0 _]. assert (d0' := IZR_lt _ _ d0).
  set (d := IZR (mass ms) * N * IZR (snd D)).
  assert (dp : 0 < d) by (unfold d; apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption).
  assert (point : forall x z, In z ls -> (surplus D x (X (at_ z), X' (at_ z)) <= top x)%Z).
  { intros x z I. apply highest_facts. apply nodup_In. specialize (inside z I). clear - inside.
    induction L as [|l L IH]; [contradiction|]. destruct inside as [->|I]; [left; reflexivity | right; auto]. }
  assert (real : forall x z, In z ls -> IZR (fst x) / IZR (mass ms) * (IZR (X (at_ z)) / N)
            - value D * (IZR (snd x) / IZR (mass ms) * (IZR (X' (at_ z)) / N)) <= IZR (top x) / d).
  { intros x z I. assert (P := IZR_le _ _ (point x z I)). unfold surplus in P at 1. simpl in P.
    rewrite minus_IZR, !mult_IZR in P. unfold value.
    replace (IZR (fst x) / IZR (mass ms) * (IZR (X (at_ z)) / N)
             - IZR (fst D) / IZR (snd D) * (IZR (snd x) / IZR (mass ms) * (IZR (X' (at_ z)) / N)))
      with ((IZR (fst x) * IZR (X (at_ z)) * IZR (snd D) - IZR (snd x) * IZR (X' (at_ z)) * IZR (fst D)) / d)
      by (unfold d; field; repeat split; lra).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, dp | exact P]. }
  apply parts_beside with (value rest) m (IZR (top (most ms, least ms)) / d) (IZR (top (least ms, most ms)) / d)
    (IZR (top (common ms, common ms)) / d); auto using value_one.
  - intros z I. apply (real (most ms, least ms) z I).
  - intros z I. apply (real (least ms, most ms) z I).
  - intros z I. apply (real (common ms, common ms) z I).
  - assert (h1 := heard_value rest (top (most ms, least ms)) d sr dp).
    assert (h2 := heard_value rest (top (least ms, most ms)) d sr dp).
    assert (h3 := heard_value rest (top (common ms, common ms)) d sr dp).
    unfold kept, three, added in C. simpl in C. apply Z.leb_le, IZR_le in C. fold (top (most ms, least ms)) in C.
    fold (top (least ms, most ms)) in C. fold (top (common ms, common ms)) in C. rewrite Z.add_0_r, !plus_IZR in C.
    destruct sr as [r0 _]. apply IZR_lt in r0.
    assert (i : 0 < / (d * IZR (snd rest))) by (apply Rinv_0_lt_compat, Rmult_lt_0_compat; assumption).
    set (a1 := IZR (heard rest (top (most ms, least ms)) * _)) in *.
    set (a2 := IZR (heard rest (top (least ms, most ms)) * _)) in *.
    set (a3 := IZR (heard rest (top (common ms, common ms)) * _)) in *.
    assert ((a1 + a2 + a3) * / (d * IZR (snd rest)) <= 0 * / (d * IZR (snd rest))) by (apply Rmult_le_compat_r; lra).
    unfold Rdiv in *. lra.
Qed.
