"""``starshade attack``: its options, its commands, what it prints."""
