(* The paper's linear form without its condition, the sum replaced by its two parts: the right proof of
   `Theorem1.paper_linear_constraint` on the wrong statement. It must not compile.
   `Theorem1.linear_without_constraint_is_false` is the counterexample. *)
Require Import Reals Lra List.
Require Import Sums Theorem1.
Open Scope R_scope.

Theorem paper_linear_constraint q c s delta : 0 < q <= 1 -> 0 < delta -> 0 <= c -> 0 <= s ->
  c / delta <= 1 /\ s / limit q delta <= 1 -> sum_form q c s <= delta.
Proof.
  intros Hq Hd Hc Hs H.
  assert (E1 : 1 < exp delta) by (generalize (exp_ineq1 delta); lra).
  assert (B0 : 0 < (exp delta - 1) / q) by (apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; lra]).
  set (B := 1 + (exp delta - 1) / q). set (l := limit q delta) in *.
  assert (eB : exp l = B) by (apply exp_ln; unfold B; lra).
  assert (qB : 1 - q + q * B = exp delta) by (unfold B; field; lra).
  assert (l0 : 0 < l).
  { unfold l, limit. rewrite <- ln_1. apply ln_increasing; lra. }
  set (u := 1 - c / delta).
  assert (cd : c = (1 - u) * delta) by (unfold u; field; lra).
  assert (c0 : 0 <= c / delta) by (apply div_nonneg; assumption).
  assert (s0 : 0 <= s / l) by (apply div_nonneg; assumption).
  assert (su : s <= u * l).
  { apply Rmult_le_reg_r with (/ l); [apply Rinv_0_lt_compat, l0|].
    replace (u * l * / l) with u by (field; lra). unfold u. unfold Rdiv in *. lra. }  (* fails here *)
  assert (u01 : 0 <= u <= 1) by (unfold u; lra).
  (* 1^u and B^u, at a distance of the mean e^delta *)
  assert (K : 1 - q + q * exp s <= exp (u * delta)).
  { assert (k1 := exp_chord u (- delta) u01). assert (k2 := exp_chord u (l - delta) u01).
    assert (S : exp s <= exp (u * l)) by (apply exp_le, su).
    assert (m : (1 - q) * exp (u * - delta) + q * exp (u * (l - delta)) <= 1).
    { assert ((1 - q) * exp (u * - delta) <= (1 - q) * (1 - u + u * exp (- delta))) by (apply Rmult_le_compat_l; lra).
      assert (q * exp (u * (l - delta)) <= q * (1 - u + u * exp (l - delta))) by (apply Rmult_le_compat_l; lra).
      assert (e : (1 - q) * exp (- delta) + q * exp (l - delta) = 1).
      { unfold Rminus at 2. rewrite exp_plus, eB, exp_Ropp.
        apply Rmult_eq_reg_r with (exp delta); [|lra].
        transitivity (1 - q + q * B); [field; lra | rewrite qB; ring]. }
      assert (u * ((1 - q) * exp (- delta) + q * exp (l - delta)) = u) by (rewrite e; ring). lra. }
    assert (P := exp_pos (u * delta)).
    apply Rle_trans with (((1 - q) * exp (u * - delta) + q * exp (u * (l - delta))) * exp (u * delta)).
    - rewrite Rmult_plus_distr_r, !Rmult_assoc, <- !exp_plus.
      replace (u * - delta + u * delta) with 0 by ring. replace (u * (l - delta) + u * delta) with (u * l) by ring.
      rewrite exp_0. assert (q * exp s <= q * exp (u * l)) by (apply Rmult_le_compat_l; lra). lra.
    - rewrite <- (Rmult_1_l (exp (u * delta))) at 2. apply Rmult_le_compat_r; lra. }
  unfold sum_form. assert (ln (1 - q + q * exp s) <= u * delta).
  { rewrite <- (ln_exp (u * delta)). destruct (Rle_lt_or_eq_dec _ _ K) as [k| ->]; [|lra].
    left. apply ln_increasing; [apply spread_pos; lra | exact k]. }
  lra.
Qed.
