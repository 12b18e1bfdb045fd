"""Clipping groups of records into intervals (SR §6; definitions, "interval")."""
