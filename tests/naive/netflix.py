"""`kernels.text.netflix`, once more, line by line."""

from __future__ import annotations

from tests.naive.plain import ID, NotPlainError, day, matched, rating


def parse(text):
    """Return [(user, movie, rating, day)] and the places of lines that are something else.

    The movie of rows before the first ``movie:`` is −1.
    """
    rows, wrong, movie, place = [], [], -1, 0
    for line in text[:-1].split(b"\n"):
        bare = line[:-1] if line.endswith(b"\r") else line
        try:
            if bare.endswith(b":"):
                movie = int(matched(ID, bare[:-1]))
            elif bare:
                user, stars, date = (*bare.split(b","), None, None)[:3]
                if bare.count(b",") != 2:
                    raise NotPlainError
                rows.append((int(matched(ID, user)), movie, rating(stars), day(date, iso=True)))
        except NotPlainError:
            wrong.append(place)
        place += len(line) + 1
    return rows, wrong
