"""Which menus to ask, and how often: A-optimal design of a survey under privacy demands."""
