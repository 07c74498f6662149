"""Tables of two or three features."""
