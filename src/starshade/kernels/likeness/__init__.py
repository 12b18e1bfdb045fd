"""k-Likeness: the nearest free records of many nuclei (SPEC §3.2)."""
