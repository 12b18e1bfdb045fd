"""Attacks by candidates: all records that match everything known."""
