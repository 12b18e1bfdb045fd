"""What several releases of the same people tell together (definitions, "composition")."""
