"""Predicates that exactly one person satisfies (Cohen & Nissim 2020)."""
