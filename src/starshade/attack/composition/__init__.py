"""Composition attack on several releases of the same people (definitions, "composition")."""
