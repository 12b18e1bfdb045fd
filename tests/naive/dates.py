"""The day of one date, by the standard library, for reading."""

from __future__ import annotations

import datetime

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def day(moment: datetime.datetime) -> int:
    """Return the UTC day since 1970-01-01; a moment without a zone is in UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return (moment.astimezone(datetime.UTC) - EPOCH).days
