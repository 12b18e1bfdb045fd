"""Attack, check and measure, joined into one verdict."""
