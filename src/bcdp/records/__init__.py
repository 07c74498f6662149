"""People's records under a policy: read by its rules, coded, checked; a first draft of a policy from them."""
