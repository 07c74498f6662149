(* Theorem 1 with q and 1 - q exchanged: the right proof of `Theorem1.star_certifies` on the wrong statement. It must
   not compile. `Theorem1.exchanged_is_false` is the counterexample. *)
Require Import Reals Lra List.
Require Import Sums Notions Variation.
Open Scope R_scope.

Lemma star_certifies {Z} (lz : list Z) (g h : Z -> R) C F q :
  0 <= q <= 1 -> 0 <= C -> C <= F ->
  (forall z, In z lz -> g z <= C * h z) -> (forall z z', In z lz -> In z' lz -> g z <= F * h z') ->
  star2 lz q (q * C + (1 - q) * F) g h.
Proof.
  intros Hq HC HF own all z z' z'' I I' I''.
  set (m := Rmin (h z) (h z'')). set (D := q * C + (1 - q) * F).
  assert (m1 : m <= h z) by apply Rmin_l. assert (m2 : m <= h z'') by apply Rmin_r.
  assert (G : g z' <= F * m) by (unfold m, Rmin; destruct (Rle_dec (h z) (h z'')); auto).
  assert (D0 : 0 <= D) by (apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra).
  assert ((1 - q) * g z <= (1 - q) * (C * h z)) by (apply Rmult_le_compat_l; [lra | auto]).
  assert (q * g z' <= q * (F * m)) by (apply Rmult_le_compat_l; lra).
  assert (0 <= D * (q * (h z'' - m))) by (repeat apply Rmult_le_pos; lra).
  assert (0 <= (1 - q) * q * (F - C) * (h z - m)) by (repeat apply Rmult_le_pos; lra).
  unfold D in *. lra.  (* fails here *)
Qed.
