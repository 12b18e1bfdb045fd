"""At which points readings of SQ differ: SR's, without the anonymizer and the prediction."""

from __future__ import annotations

from dataclasses import replace

from starshade.audit.reproduction.configurations import Choice
from starshade.audit.reproduction.sr.configurations import CHOICES as _OF_SR

_PLACES = {"§5.1": "§3", "§7.1": "§4", "§7.2": "§4", "Eq. 1": "§2", "Def. 2, §5.1": "Def. 2, §3"}
_OWN = ("items", "sensitive", "nulls", "groups", "search", "first", "pairwise", "everybody")
CHOICES: tuple[Choice, ...] = tuple(
    replace(each, place=_PLACES.get(each.place, "§3")) for each in _OF_SR if each.key in _OWN
)
