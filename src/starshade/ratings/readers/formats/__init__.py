"""One file for each form in which ratings come."""
