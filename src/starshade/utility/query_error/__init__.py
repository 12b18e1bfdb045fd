"""How far answers to random queries are from the truth."""
