(* Finite sums, point masses, and the largest and least of finitely many numbers. *)
Require Import Reals Lra List.
Import ListNotations.
Open Scope R_scope.

Fixpoint sum {T : Type} (f : T -> R) (l : list T) : R :=
  match l with [] => 0 | x :: r => f x + sum f r end.

Section Sum.
Context {T : Type}.
Implicit Types (f g : T -> R) (l : list T).

Lemma sum_le f g l : (forall x, In x l -> f x <= g x) -> sum f l <= sum g l.
Proof.
  induction l as [|a l IH]; simpl; intros H; [lra|].
  assert (f a <= g a) by (apply H; left; reflexivity).
  assert (sum f l <= sum g l) by (apply IH; intros; apply H; right; assumption). lra.
Qed.
Lemma sum_eq f g l : (forall x, In x l -> f x = g x) -> sum f l = sum g l.
Proof. intros H. apply Rle_antisym; apply sum_le; intros x I; rewrite (H x I); apply Rle_refl. Qed.
Lemma sum_ext f g l : (forall x, f x = g x) -> sum f l = sum g l.
Proof. intros H. apply sum_eq. auto. Qed.
Lemma sum_plus f g l : sum (fun x => f x + g x) l = sum f l + sum g l.
Proof. induction l; simpl; lra. Qed.
Lemma sum_scal c f l : sum (fun x => c * f x) l = c * sum f l.
Proof. induction l as [|a l IH]; simpl; [lra | rewrite IH; lra]. Qed.
Lemma sum_minus f g l : sum (fun x => f x - g x) l = sum f l - sum g l.
Proof. induction l; simpl; lra. Qed.
Lemma sum_zero l : sum (fun _ => 0) l = 0.
Proof. induction l; simpl; lra. Qed.
Lemma sum_const c l : sum (fun _ => c) l = c * INR (length l).
Proof.
  induction l as [|a l IH]; [simpl; ring|]. change (length (a :: l)) with (S (length l)).
  rewrite S_INR. simpl sum. rewrite IH. ring.
Qed.
Lemma sum_nonneg f l : (forall x, In x l -> 0 <= f x) -> 0 <= sum f l.
Proof. intros H. rewrite <- (sum_zero l). apply sum_le, H. Qed.
Lemma sum_ge_term f l x : (forall y, In y l -> 0 <= f y) -> In x l -> f x <= sum f l.
Proof.
  induction l as [|y l IH]; simpl; intros H I; [contradiction|].
  assert (0 <= sum f l) by (apply sum_nonneg; auto).
  assert (0 <= f y) by auto.
  destruct I as [->|I]; [lra | specialize (IH (fun y J => H y (or_intror J)) I); lra].
Qed.
Lemma sum_zero_terms f l : (forall x, In x l -> 0 <= f x) -> sum f l = 0 -> forall x, In x l -> f x = 0.
Proof.
  intros H E x I. assert (f x <= sum f l) by (apply sum_ge_term; assumption). specialize (H x I). lra.
Qed.
Lemma sum_app f l l' : sum f (l ++ l') = sum f l + sum f l'.
Proof. induction l; simpl; lra. Qed.
Lemma sum_pos_inhabited f l : 0 < sum f l -> exists x, In x l.
Proof. destruct l as [|x l]; simpl; [lra | exists x; left; reflexivity]. Qed.
End Sum.

Lemma sum_map {T U} (h : T -> U) (f : U -> R) l : sum f (map h l) = sum (fun x => f (h x)) l.
Proof. induction l; simpl; [reflexivity | rewrite IHl; reflexivity]. Qed.
Lemma sum_flat_map {T U} (h : T -> list U) (f : U -> R) l :
  sum f (flat_map h l) = sum (fun x => sum f (h x)) l.
Proof. induction l; simpl; [reflexivity | rewrite sum_app, IHl; reflexivity]. Qed.
Lemma sum_list_prod {T U} (f : T * U -> R) l l' :
  sum f (list_prod l l') = sum (fun x => sum (fun y => f (x, y)) l') l.
Proof. induction l; simpl; [reflexivity | rewrite sum_app, sum_map, IHl; reflexivity]. Qed.
Lemma sum_swap {T U} (f : T -> U -> R) l l' :
  sum (fun a => sum (fun z => f a z) l') l = sum (fun z => sum (fun a => f a z) l) l'.
Proof.
  induction l as [|a l IH]; simpl.
  - symmetry; apply sum_zero.
  - rewrite IH. symmetry. apply sum_plus.
Qed.
Lemma sum_prod {T U} (f : T -> R) (g : U -> R) l l' :
  sum f l * sum g l' = sum (fun x => sum (fun y => f x * g y) l') l.
Proof. rewrite Rmult_comm, <- sum_scal. apply sum_ext; intro x. rewrite sum_scal. ring. Qed.

(* The indicator of one point. *)
Section Point.
Context {T : Type} (eqT : forall x y : T, {x = y} + {x <> y}).
Definition point x : T -> R := fun y => if eqT y x then 1 else 0.
Lemma point_01 x y : point x y = 0 \/ point x y = 1.
Proof. unfold point. destruct (eqT y x); auto. Qed.
Lemma point_pos x y : 0 <= point x y.
Proof. destruct (point_01 x y); lra. Qed.
Lemma sum_point (f : T -> R) l x : NoDup l -> In x l -> sum (fun y => point x y * f y) l = f x.
Proof.
  unfold point. induction l as [|s l IH]; simpl; intros N I; [contradiction|].
  inversion N as [|? ? n N']; subst. destruct (eqT s x) as [->|ne].
  - replace (sum (fun y => (if eqT y x then 1 else 0) * f y) l) with 0; [ring|].
    symmetry. transitivity (sum (fun _ : T => 0) l); [|apply sum_zero]. apply sum_eq; intros s J.
    destruct (eqT s x) as [->|]; [contradiction | ring].
  - destruct I as [->|I]; [contradiction|]. rewrite IH by assumption. ring.
Qed.
End Point.

Lemma argmax {T} (f : T -> R) l x0 : In x0 l -> exists x, In x l /\ forall y, In y l -> f y <= f x.
Proof.
  revert x0. induction l as [|a l IH]; intros x0 I; [destruct I|].
  destruct l as [|b l].
  - exists a. split; [left; reflexivity|]. intros y [->|[]]; apply Rle_refl.
  - destruct (IH b (or_introl eq_refl)) as [x [Ix Hx]].
    destruct (Rle_dec (f a) (f x)) as [H|H].
    + exists x. split; [right; exact Ix|]. intros y [->|Iy]; auto.
    + exists a. split; [left; reflexivity|]. intros y [->|Iy]; [apply Rle_refl|].
      specialize (Hx y Iy). lra.
Qed.
Lemma argmin {T} (f : T -> R) l x0 : In x0 l -> exists x, In x l /\ forall y, In y l -> f x <= f y.
Proof.
  intros I. destruct (argmax (fun x => - f x) l x0 I) as [x [Ix Hx]].
  exists x. split; [exact Ix|]. intros y Iy. specialize (Hx y Iy). lra.
Qed.

Definition most {T} (f : T -> R) x l := fold_right (fun y r => Rmax (f y) r) (f x) l.
Definition least {T} (f : T -> R) x l := fold_right (fun y r => Rmin (f y) r) (f x) l.
Lemma most_facts {T} (f : T -> R) x l :
  (forall y, In y l -> f y <= most f x l) /\ exists y, In y (x :: l) /\ most f x l = f y.
Proof.
  induction l as [|b l [IH [y [I e]]]]; simpl; [split; [contradiction | exists x; auto]|]. split.
  - intros z [->|J]; [apply Rmax_l | apply Rle_trans with (1 := IH z J); apply Rmax_r].
  - unfold Rmax. destruct (Rle_dec (f b) (most f x l)).
    + exists y. split; [destruct I as [->|I]; auto | exact e].
    + exists b. auto.
Qed.
Lemma least_facts {T} (f : T -> R) x l :
  (forall y, In y l -> least f x l <= f y) /\ exists y, In y (x :: l) /\ least f x l = f y.
Proof.
  induction l as [|b l [IH [y [I e]]]]; simpl; [split; [contradiction | exists x; auto]|]. split.
  - intros z [->|J]; [apply Rmin_l | apply Rle_trans with (2 := IH z J); apply Rmin_r].
  - unfold Rmin. destruct (Rle_dec (f b) (least f x l)).
    + exists b. auto.
    + exists y. split; [destruct I as [->|I]; auto | exact e].
Qed.

Lemma exp_one x : 0 <= x -> 1 <= exp x.
Proof. intros H. generalize (exp_ineq1_le x). lra. Qed.
Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros H. destruct (Rle_lt_or_eq_dec _ _ H) as [L| ->]; [left; apply exp_increasing, L | lra]. Qed.
Lemma div_nonneg x y : 0 <= x -> 0 < y -> 0 <= x / y.
Proof. intros. apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; assumption]. Qed.
