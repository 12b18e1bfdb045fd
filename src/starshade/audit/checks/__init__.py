"""The checks of a policy, each by the strongest attack that was tried, and their thresholds."""
