"""Generalization hierarchies, of ratings and of personal attributes (KL Def 7, 8)."""
