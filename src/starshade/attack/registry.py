"""The attacks that ``starshade list attacks`` names."""

from __future__ import annotations

from starshade.registry import Entry

_SETTINGS = "starshade.attack.settings"

ENTRIES = (
    Entry(
        name="composition",
        module="starshade.attack.composition.composition",
        cls="Composition",
        summary="Intersect the classes and cells of several releases of the same people.",
        source="Ganta, Kasiviswanathan & Smith 2008",
        settings=_SETTINGS,
    ),
    Entry(
        name="homogeneity",
        module="starshade.attack.candidates.homogeneity",
        cls="HomogeneityAttack",
        summary="Learn what all records in which everything known fits have in common.",
        source="Chang, Thompson, Wang & Yao, definition 5.1; Sun & Sun, section 4",
        settings=_SETTINGS,
    ),
    Entry(
        name="label",
        module="starshade.attack.candidates.candidates",
        cls="LabelAttack",
        title="Whoever fits every fact exactly",
        summary="Pick among the records that rated all known items as the target did.",
        source="Chang, Thompson, Wang & Yao, definition 3.2",
        settings=_SETTINGS,
    ),
    Entry(
        name="link-existence",
        module="starshade.attack.link_existence",
        cls="LinkExistence",
        summary="Ask how many of a group really rated what its records show.",
        source="Chang, Thompson, Wang & Yao, section 6",
        settings=_SETTINGS,
    ),
    Entry(
        name="padding",
        module="starshade.attack.padding.padding",
        cls="PaddingAttack",
        summary="Tell which cells of averaged profiles rest on a real rating.",
        source="starshade's own",
        settings=_SETTINGS,
    ),
    Entry(
        name="scoreboard",
        module="starshade.attack.candidates.candidates",
        cls="Scoreboard",
        title="Whoever fits every fact, roughly",
        summary="Pick among the records in which everything known fits.",
        source="Narayanan & Shmatikov 2008, section 4",
        settings=_SETTINGS,
    ),
    Entry(
        name="scoreboard-rh",
        module="starshade.attack.scoreboard_rh.scoreboard_rh",
        cls="ScoreboardRH",
        title="Best match, even if some facts are wrong",
        summary="Name the record that fits what is known of a person, if it stands out.",
        source="Narayanan & Shmatikov 2008, sections 4 and 5",
        settings=_SETTINGS,
    ),
    Entry(
        name="structure",
        module="starshade.attack.candidates.candidates",
        cls="StructureAttack",
        title="Whoever rated the same items",
        summary="Pick among the records that rated all known items.",
        source="Chang, Thompson, Wang & Yao, definition 3.1",
        settings=_SETTINGS,
    ),
    Entry(
        name="tracker",
        module="starshade.attack.tracker.tracker",
        cls="TrackerAttack",
        summary="Single people out by asking counts, then ask about them.",
        source="Riyana & Natwichai 2018, section 1.1",
        settings=_SETTINGS,
    ),
)
