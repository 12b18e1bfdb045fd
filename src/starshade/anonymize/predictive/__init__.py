"""Predictive anonymization (Chang et al. 2009): groups of alike users, one profile each."""
