"""The terms of the reports, each with its definition in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

#: as in docs/glossary.md, short enough for a margin
TERMS: Mapping[str, str] = {
    "record": "what a release states about one person, without a name.",
    "cell": "what a record states about one item.",
    "equivalence class": "records that are equal in all that is released.",
    "k": "the minimum class size.",
    "quasi-identifier": "attribute of a person, such as age, by which others may recognize them.",
    "direct identifier": "value that names a person, such as an e-mail address.",
    "band": "a range instead of a figure, as the exact figure is private.",
    "policy": "the adversary's knowledge, the risks to check, and a threshold for each.",
    "adversary": "person who tries to learn something about people from the data.",
    "threshold": "the highest risk that the policy accepts.",
    "baseline": "rate without the target's record: of a guess, or for non-members.",
    "95 % interval": "range that contains the true figure with 95 % confidence.",
    "re-identification": "the adversary finds the record of a person.",
    "singling out": "a predicate isolates one person.",
    "linkability": "two partial profiles of one person lead to the same class.",
    "membership": "the adversary detects that a person is in the data.",
    "TPR at 1 % FPR": "members detected while 1 % of non-members are.",
    "excess": "(rate − baseline) / (1 − baseline).",
    "held-out RMSE": "typical error on ratings withheld beforehand.",
    "inference gain": "guesses about a person that are right because they took part.",
    "attribute disclosure": "a value follows with certainty.",
    "class linkage": "the adversary finds the class of a person.",
    "composition": "intersecting several releases of the same people.",
    "tracker": "combination of COUNT queries that singles out one person.",
    "shadow release": "release of a random half of the people by the same method, to calibrate "
    "attacks.",
    "accepted risk": "a check that does not pass, and that the owner accepts with a reason.",
    "private key file": "the owner's file that links records to people (GDPR Art. 4(5)); not part "
    "of the release.",
    "SHA-256": "a fingerprint of a file: another file has another one.",
}


class Terms:
    """The terms that a page uses, each explained once, where it first stands.

    Examples
    --------
    >>> terms = Terms()
    >>> terms.first("k"), terms.first("k"), terms.definition("k")
    (True, False, 'the minimum class size.')
    """

    def __init__(self) -> None:
        self._explained: set[str] = set()

    def first(self, name: str) -> bool:
        """Return whether a term has not been explained yet; from now on it is."""
        new = name not in self._explained
        self._explained.add(name)
        return new

    def definition(self, name: str) -> str:
        """Return the definition of a term."""
        return TERMS[name]
