"""Who is at risk: how few known cells are enough for each user (an extension of NS §5)."""
