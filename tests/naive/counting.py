"""`kernels.counting`, `kernels.csr.transpose` and `kernels.numbering`, once more, with sorted()."""

from __future__ import annotations


def number(keys):
    """Return each key's number, in order of first appearance."""
    numbers = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def gathered(rows, n_users):
    """Rows (user, item, payload) in file order → a list of (item, payload) for each user."""
    return [[row[1:] for row in rows if row[0] == user] for user in range(n_users)]


def turned(table, n_columns):
    """A list of (column, payload) for each row → a list of (row, payload) for each column."""
    return [
        [(i, payload) for i, row in enumerate(table) for c, payload in row if c == column]
        for column in range(n_columns)
    ]
