"""The same privatize and tally, from files to files on one machine (`local`) or on many (`spark`)."""
