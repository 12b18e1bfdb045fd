"""Composition: what several releases of the same people tell together (definitions, "composition")."""
