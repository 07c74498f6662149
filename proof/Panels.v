(* Panels (section 4.23): a person is asked in one wave, which is drawn whatever their history is. A value of a feature
   is its history over the waves, and so is what is known of the others. And Theorem 13 (c): the levels of the menus
   that were drawn add up. *)
Require Import Reals Lra List.
Import ListNotations.
Require Import Sums Notions Variation Response Theorem1 Releases Certificate.
Open Scope R_scope.

(* ---- The level of a panel is the largest of its menus', each menu having its wave ---- *)
Section Panel.
Context {H G M A Z Y : Type}.            (* histories of feature i, of the others; menus; what a menu asks of either *)
Variables (lh : list H) (lg : list G) (lm : list M) (la : M -> list A) (lz : M -> list Z) (ly : M -> list Y).
Variable p : M -> R.                     (* weights of the menus: not a function of the history *)
Variable rho : M -> H -> A -> R.         (* what the menu's wave, or two waves, show of a history: chance of an input *)
Variable sigma : M -> G -> Z -> R.
Variable f : M -> A -> Z -> Y -> R.      (* the menu's table *)
Hypothesis p_pos : forall m, 0 <= p m.
Hypothesis rho_pos : forall m h a, 0 <= rho m h a.
Hypothesis rho_one : forall m h, In m lm -> In h lh -> sum (rho m h) (la m) = 1.
Hypothesis sigma_pos : forall m g z, 0 <= sigma m g z.
Hypothesis sigma_one : forall m g, In m lm -> In g lg -> sum (sigma m g) (lz m) = 1.
Hypothesis eqM : forall m m' : M, {m = m'} + {m <> m'}.
Hypothesis eqY : forall y y' : Y, {y = y'} + {y <> y'}.
Hypothesis nm : NoDup lm.
Hypothesis ny : forall m, NoDup (ly m).
Definition panel := survey p (fun m => coded (la m) (lz m) (rho m) (sigma m) (f m)).

Theorem panel_ldp L : (forall m, In m lm -> 0 < p m -> ldp (la m) (lz m) (ly m) (f m) L) ->
  ldp lh lg (reports lm ly) panel L.
Proof. intros C. apply theorem_2_ldp; auto. intros m I P. apply theorem_4_ldp; auto. Qed.

Theorem panel_cdp L : (forall m, In m lm -> 0 < p m -> cdp (la m) (lz m) (ly m) (f m) L) ->
  cdp lh lg (reports lm ly) panel L.
Proof. intros C. apply theorem_2_cdp; auto. intros m I P. apply theorem_4_cdp; auto. Qed.

(* All pairs of inputs, equal ones included: two histories may agree in the wave that is asked. *)
Theorem panel_bcdp pi q D : is_prior lh lg pi -> 0 <= q <= 1 -> 0 <= D -> correlation lh lg pi q ->
  (forall m y a a', In m lm -> 0 < p m -> In y (ly m) -> In a (la m) -> In a' (la m) ->
     star2 (lz m) q D (fun z => f m a z y) (fun z => f m a' z y)) ->
  bcdp lh lg (reports lm ly) pi panel D.
Proof.
  intros pr Hq HD near cert. apply theorem_2_bcdp; auto. intros m I P.
  apply (theorem_4 lh lg (la m) (lz m) (ly m) pi (rho m) (sigma m) (f m) D) with q; auto.
Qed.
End Panel.

(* ---- Theorem 13 (c): a transcript is a product of what the releases say, each within the level of its menu ---- *)
Section Filter.
Context {A Z Y : Type} (la : list A) (lz : list Z) (ly : list Y).
Variable mu : A -> Z -> Y -> R.          (* chance of a whole transcript: menus, answers, refusals *)
Variable steps : Y -> list (R * (A -> Z -> R)).  (* of each of its releases the level of what was drawn, and the chance *)
Variable L : R.
Fixpoint levels_of (l : list (R * (A -> Z -> R))) := match l with [] => 1 | s :: l' => fst s * levels_of l' end.
Fixpoint chance_of (l : list (R * (A -> Z -> R))) a z :=
  match l with [] => 1 | s :: l' => snd s a z * chance_of l' a z end.
Hypothesis is_product : forall y a z, mu a z y = chance_of (steps y) a z.
Hypothesis capped : forall y, In y ly -> levels_of (steps y) <= L.   (* the device stops at the cap *)
Hypothesis positive : forall y s, In s (steps y) -> 0 <= fst s /\ forall a z, 0 <= snd s a z.
Hypothesis eqY : forall y y' : Y, {y = y'} + {y <> y'}.
Hypothesis ny : NoDup ly.

Lemma chance_pos l a z : (forall s, In s l -> 0 <= fst s /\ forall a z, 0 <= snd s a z) -> 0 <= chance_of l a z.
Proof.
  induction l as [|s l IH]; intros P; simpl; [lra|].
  apply Rmult_le_pos; [apply (P s); left; reflexivity | apply IH; intros t I; apply P; right; exact I].
Qed.
Lemma within l a z a' z' : (forall s, In s l -> 0 <= fst s /\ forall a z, 0 <= snd s a z) ->
  (forall s, In s l -> snd s a z <= fst s * snd s a' z') -> chance_of l a z <= levels_of l * chance_of l a' z'.
Proof.
  induction l as [|s l IH]; intros P B; simpl; [lra|].
  assert (Ps : 0 <= fst s /\ forall a z, 0 <= snd s a z) by (apply P; left; reflexivity).
  assert (Pl : forall t, In t l -> 0 <= fst t /\ forall a z, 0 <= snd t a z) by (intros t I; apply P; right; exact I).
  apply Rle_trans with ((fst s * snd s a' z') * (levels_of l * chance_of l a' z')).
  - apply Rmult_le_compat; [apply Ps | apply chance_pos, Pl | apply B; left; reflexivity |].
    apply IH; [exact Pl | intros t I; apply B; right; exact I].
  - apply Req_le. ring.
Qed.

Theorem filter_ldp : (forall y s a z a' z', In y ly -> In s (steps y) ->
    In a la -> In z lz -> In a' la -> In z' lz -> snd s a z <= fst s * snd s a' z') -> ldp la lz ly mu L.
Proof.
  intros B. apply (proposition_1_ldp la lz ly mu L eqY ny). intros y a z a' z' Iy I J I' J'. rewrite !is_product.
  apply Rle_trans with (levels_of (steps y) * chance_of (steps y) a' z').
  - apply within; [exact (positive y) | intros s Is; apply (B y); assumption].
  - apply Rmult_le_compat_r; [apply chance_pos, positive | apply capped, Iy].
Qed.
Theorem filter_cdp : (forall y s a a' z, In y ly -> In s (steps y) ->
    In a la -> In a' la -> In z lz -> snd s a z <= fst s * snd s a' z) -> cdp la lz ly mu L.
Proof.
  intros B. apply (proposition_1_cdp la lz ly mu L eqY ny). intros y a a' z Iy I I' J. rewrite !is_product.
  apply Rle_trans with (levels_of (steps y) * chance_of (steps y) a' z).
  - apply within; [exact (positive y) | intros s Is; apply (B y); assumption].
  - apply Rmult_le_compat_r; [apply chance_pos, positive | apply capped, Iy].
Qed.
End Filter.
