"""Where reports are kept: SQLite or PostgreSQL, committed in groups."""
