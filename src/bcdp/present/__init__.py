"""Whatever a person looks at: words, pictures, the report page."""
