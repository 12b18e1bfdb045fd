"""Synthetic people, drawn one by one."""
