"""What devices do with a plan: one record at a time, or many at once."""
