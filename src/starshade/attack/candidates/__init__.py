"""Attacks by candidates: every record in which all that is known fits (SPEC §1.1, §1.5, §1.6)."""
