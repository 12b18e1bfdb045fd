"""k-Likeness: the nearest free records of many nuclei (definitions, "k-likeness")."""
