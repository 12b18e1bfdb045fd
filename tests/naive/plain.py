"""`kernels.text.plain`, once more, with regular expressions and Python's own float and date."""

from __future__ import annotations

import datetime
import re

ID = re.compile(rb"0|[1-9][0-9]{0,17}")
SECONDS = re.compile(rb"0|[1-9][0-9]{0,10}")
RATING = re.compile(rb"-?(?=[0-9]|\.[0-9])[0-9]*(\.[0-9]*)?")
DATE = re.compile(rb"([0-9]{4})-([0-9]{2})-([0-9]{2})")


class NotPlainError(Exception):
    pass


def matched(pattern, field):
    if not pattern.fullmatch(field):
        raise NotPlainError
    return field


def rating(field):
    matched(RATING, field)
    if len(re.sub(rb"[^0-9]", b"", field)) > 15:
        raise NotPlainError
    return float(field)


def day(field, iso):
    if not iso:
        return int(matched(SECONDS, field)) // 86_400
    try:
        date = datetime.date(*map(int, DATE.fullmatch(field).groups()))
    except (AttributeError, ValueError):
        raise NotPlainError from None
    return (date - datetime.date(1970, 1, 1)).days


def parse(text, delimiter, columns, n_columns, *, iso):
    """Return ([(user, item, rating, day or None)], all lines plain?) of bytes ending in LF."""
    rows = []
    for line in text[:-1].split(b"\n"):
        line = line[:-1] if line.endswith(b"\r") else line
        if not line:
            continue
        try:
            fields = line.split(delimiter)
            if len(fields) != n_columns or b'"' in line or b"\r" in line:
                raise NotPlainError
            user, item = (int(matched(ID, fields[c])) for c in columns[:2])
            when = None if columns[3] is None else day(fields[columns[3]], iso)
            rows.append((user, item, rating(fields[columns[2]]), when))
        except NotPlainError:
            return rows, False
    return rows, True
