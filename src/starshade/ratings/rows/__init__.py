"""Rows on their way to cells: sorted, and those that repeat one another made one."""
