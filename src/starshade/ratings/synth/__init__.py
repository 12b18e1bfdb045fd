"""Synthetic ratings: like those of real data sets, or like a survey's."""
