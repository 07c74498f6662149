"""What the design may exchange for each other: features, pairs and blocks that are treated equally."""
