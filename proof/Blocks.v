(* Section 4.17 of theory.md: what the answer to a question about a block reveals of one of its views. *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums.
Open Scope R_scope.

Section Views.
Context {B Z : Type} (la la' : list B) (lz : list Z).
(* Two parts of a view, la and la'; f: the chance of one answer to the block's question, g: of one answer to the others.
   p, p': the laws of block and outside given that the block is in either part. *)
Variables (f : B -> R) (g : Z -> R).
Hypothesis g_pos : forall z, In z lz -> 0 <= g z.

Definition answer (l : list B) (p : B -> Z -> R) := sum (fun z => sum (fun b => p b z * f b) l * g z) lz.
Definition outside (l : list B) (p : B -> Z -> R) := sum (fun z => sum (fun b => p b z) l * g z) lz.

Theorem view_upper p F : (forall b z, 0 <= p b z) -> (forall b, In b la -> f b <= F) ->
  answer la p <= F * outside la p.
Proof.
  intros pos most. unfold answer, outside. rewrite <- sum_scal. apply sum_le; intros z I.
  rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply g_pos; assumption|].
  rewrite <- sum_scal. apply sum_le; intros b J. rewrite Rmult_comm. apply Rmult_le_compat_r; [apply pos | auto].
Qed.

Theorem view_lower p G : (forall b z, 0 <= p b z) -> (forall b, In b la' -> G <= f b) ->
  G * outside la' p <= answer la' p.
Proof.
  intros pos least. unfold answer, outside. rewrite <- sum_scal. apply sum_le; intros z I.
  rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply g_pos; assumption|].
  rewrite <- sum_scal. apply sum_le; intros b J. rewrite (Rmult_comm (p b z)). apply Rmult_le_compat_r; [apply pos | auto].
Qed.

(* If the extremes of the parts differ by a factor of at most C, and what is seen outside by one of at most D, then the
   answer tells the parts apart by a factor of at most C D. *)
Theorem view_certificate p p' F G C D : (forall b z, 0 <= p b z) -> (forall b z, 0 <= p' b z) ->
  (forall b, In b la -> f b <= F) -> (forall b, In b la' -> G <= f b) ->
  0 <= F -> 0 <= C -> 0 <= D -> F <= C * G -> outside la p <= D * outside la' p' ->
  answer la p <= C * D * answer la' p'.
Proof.
  intros pos pos' most least HF HC HD extremes seen.
  assert (O : 0 <= outside la' p').
  { unfold outside. apply sum_nonneg; intros z I. apply Rmult_le_pos; [apply sum_nonneg; intros; apply pos' | auto]. }
  apply Rle_trans with (1 := view_upper p F pos most).
  apply Rle_trans with (F * (D * outside la' p')); [apply Rmult_le_compat_l; assumption|].
  apply Rle_trans with (C * G * (D * outside la' p')).
  { apply Rmult_le_compat_r; [apply Rmult_le_pos|]; assumption. }
  replace (C * G * (D * outside la' p')) with (C * D * (G * outside la' p')) by ring.
  apply Rmult_le_compat_l; [apply Rmult_le_pos; assumption | apply view_lower; assumption].
Qed.

(* Attained: whatever the law r of the outside is, the block may always be where the answer is most likely, or least. *)
Variable eqB : forall x y : B, {x = y} + {x <> y}.
Theorem view_attained b (r : Z -> R) : NoDup la -> In b la ->
  let p := fun b' z => point eqB b b' * r z in
  answer la p = f b * outside la p /\ outside la p = sum (fun z => r z * g z) lz.
Proof.
  intros once I p.
  assert (E : outside la p = sum (fun z => r z * g z) lz).
  { unfold outside, p. apply sum_ext; intro z. f_equal. rewrite (sum_point eqB (fun _ => r z) la b once I). reflexivity. }
  split; [|exact E]. rewrite E. unfold answer, p. rewrite <- sum_scal. apply sum_ext; intro z.
  rewrite (sum_ext _ (fun b' => point eqB b b' * (r z * f b'))) by (intro; ring).
  rewrite (sum_point eqB (fun b' => r z * f b') la b once I). ring.
Qed.
End Views.

(* A question about the block and the outside jointly (Theorem 17): the extremes depend on what is outside, which f sees too. *)
Section Crossed.
Context {B Z : Type} (l : list B) (lz : list Z).
Variables (f : B -> Z -> R) (g : Z -> R).
Hypothesis g_pos : forall z, In z lz -> 0 <= g z.

Definition joint_answer (p : B -> Z -> R) := sum (fun z => sum (fun b => p b z * f b z) l * g z) lz.
Definition with_extremes (p : B -> Z -> R) (F : Z -> R) := sum (fun z => F z * sum (fun b => p b z) l * g z) lz.

Theorem crossed_upper p F : (forall b z, 0 <= p b z) -> (forall b z, In b l -> f b z <= F z) ->
  joint_answer p <= with_extremes p F.
Proof.
  intros pos most. unfold joint_answer, with_extremes. apply sum_le; intros z I.
  apply Rmult_le_compat_r; [apply g_pos; assumption|].
  rewrite <- sum_scal. apply sum_le; intros b J. rewrite Rmult_comm. apply Rmult_le_compat_r; [apply pos | auto].
Qed.

Theorem crossed_lower p G : (forall b z, 0 <= p b z) -> (forall b z, In b l -> G z <= f b z) ->
  with_extremes p G <= joint_answer p.
Proof.
  intros pos least. unfold joint_answer, with_extremes. apply sum_le; intros z I.
  apply Rmult_le_compat_r; [apply g_pos; assumption|].
  rewrite <- sum_scal. apply sum_le; intros b J. rewrite (Rmult_comm (p b z)). apply Rmult_le_compat_r; [apply pos | auto].
Qed.
End Crossed.
