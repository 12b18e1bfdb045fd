"""Low-rank models, and the padded rows that they make (PA §4; definitions, "predictive")."""
