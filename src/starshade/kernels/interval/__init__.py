"""Clipping groups of records into intervals (SR §6; SPEC §3.4)."""
