"""From rows in file order, or arrays, to a `Ratings` in canonical order."""
