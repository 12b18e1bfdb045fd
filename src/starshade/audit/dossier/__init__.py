"""Everything that a report shows, as plain data, in two editions."""
