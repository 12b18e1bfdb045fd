"""Attacks by candidates: every record in which all that is known fits."""
