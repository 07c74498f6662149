(* The conditions of `Certified.checker_sound` can be met: a plan, a device and a prior. Two bits, asked together in one
   joint randomized response; q = 1/10 and odds of 2, both of which the prior reaches. *)
Require Import Reals Lra List ZArith.
Import ListNotations.
Require Import Sums Notions Variation Response Checker Device Kept Sound Certified.
Open Scope R_scope.

Definition small_question :=
  Question [Coordinate [0%nat] 2; Coordinate [1%nat] 2] (columns_of (Response 4 2147483650 715827882)).
Definition small_plan :=
  Plan [false; false] [[]; []]
    [Menu total [small_question] [Known (1, 10)%Z (Some (2, 1)%Z) []; Known (1, 10)%Z None []]].
Definition plainly (x : bool) (a : nat) : R := if Nat.eqb a (if x then 1 else 0)%nat then 1 else 0.
Definition small_device := [[[OfFeature plainly; OfOthers plainly]]].

Theorem conditions_can_be_met : exists e levels c d pi,
  levels_of small_plan = Some (Some e, levels) /\ nth_error levels 0 = Some (Some c, Some d) /\
  fits_plan bits bits small_plan 0 (Values false) small_device /\
  guessed (Values false : @guesses bool) (shared small_plan 0) (spans_of small_plan 0) /\
  is_prior bits bits pi /\ plan_assumed bits bits small_plan 0 small_device pi /\
  (forall a, 0 < share bits pi a) /\ tv bits (cond bits pi true) (cond bits pi false) = 1 / 10 /\
  cond bits pi true true = 2 * cond bits pi false true.
Proof.
  set (second := fun x : bool => if x then 2 / 10 else 1 / 10).
  assert (H : forall a, 0 <= second a <= 1) by (intros []; simpl; lra).
  do 4 eexists. exists (bits_prior second).
  split; [vm_compute; reflexivity|]. split; [reflexivity|].
  assert (one : forall x, sum (plainly x) (seq 0 2) = 1) by (intros []; unfold plainly; simpl; ring).
  assert (pos : forall x a, 0 <= plainly x a) by (intros x a; unfold plainly; destruct (Nat.eqb a _); lra).
  split.
  { intros k I. destruct I as [<-|[]]. constructor; [|constructor]. constructor; [|constructor; [|constructor]].
    - split; [reflexivity|]. split; [exact pos|]. split; [intros; apply one|]. intros _.
      exists (fun x : bool => if x then 1%nat else 0%nat). split; [|split].
      + intros [] _; simpl; auto.
      + intros [] [] _ _ e; congruence.
      + intros x a _. unfold plainly, point. destruct (Nat.eq_dec a _) as [->|n].
        * rewrite Nat.eqb_refl. reflexivity.
        * apply Nat.eqb_neq in n. rewrite n. reflexivity.
    - split; [reflexivity|]. split; [exact pos|]. intros; apply one. }
  split; [reflexivity|]. split; [apply bits_is_prior, H|]. split.
  { intros k I. destruct I as [<-|[]]. exists (Known (1, 10)%Z (Some (2, 1)%Z) []). split; [reflexivity|].
    split; [|intros n; destruct (n eq_refl)].
    intros a a' _ _ _ _. split; [|split].
    - unfold tv, pushed. simpl. rewrite !bits_cond. unfold sees_menu, sees_vector, value. simpl.
      unfold plainly. simpl. unfold Rmin.
      destruct a, a'; simpl; bits_cases.
    - intros z [<-|[<-|[]]]; unfold pushed, sees_menu, sees_vector, value; simpl; rewrite !bits_cond; unfold plainly;
        simpl; destruct a, a'; simpl; lra.
    - intros z [<-|[<-|[]]]; unfold pushed, sees_menu, sees_vector, value; simpl; rewrite !bits_cond; unfold plainly;
        simpl; destruct a, a'; simpl; lra. }
  split; [intro a; rewrite bits_share; lra|]. split; [|rewrite !bits_cond; simpl; lra].
  unfold tv. simpl. rewrite !bits_cond. unfold Rmin. simpl. bits_cases.
Qed.
