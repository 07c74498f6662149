"""Oblivious HTTP (RFC 9458): the relay, and the collector's gateway."""
