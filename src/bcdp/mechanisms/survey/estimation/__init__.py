"""What the counts of a survey reveal about each target, before and after people answer."""
