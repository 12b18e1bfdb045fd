"""Campaigns of hostile input, to be run by hand and in samples by the suite."""
