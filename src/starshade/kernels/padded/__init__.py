"""Low-rank models, and the padded rows that they make (PA §4; SPEC §3.5)."""
