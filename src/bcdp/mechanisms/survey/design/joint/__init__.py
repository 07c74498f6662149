"""Questions about several features at once: which to offer, and their tables."""
