"""Options that several commands share, and what of them stood on the command line."""
