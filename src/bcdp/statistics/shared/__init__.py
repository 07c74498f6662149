"""What statistics share: targets, decoded values, intervals, ratios, weights and the rows to show."""
