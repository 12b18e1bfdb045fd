"""The attacks that ``starshade list attacks`` names."""

from __future__ import annotations

from starshade.registry import Entry

_SETTINGS = "starshade.attack.settings"

ENTRIES = (
    Entry(
        name="homogeneity",
        module="starshade.attack.candidates.homogeneity",
        cls="HomogeneityAttack",
        summary="Learn what all records in which everything known fits have in common.",
        source="Chang, Thompson, Wang & Yao, definition 5.1; Sun & Sun, section 4",
        settings=_SETTINGS,
    ),
    Entry(
        name="inference",
        module="starshade.attack.shadows.inference",
        cls="InferenceAttack",
        title="What is told of somebody because they are in it",
        summary="Ask about a person's ratings with them in the release, and without.",
        source="starshade's own",
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
        name="likelihood",
        module="starshade.attack.likelihood.likelihood",
        cls="Likelihood",
        title="The strongest: weigh every fact by its likelihood",
        summary="Name the record that makes what is known of a person likeliest.",
        source="Fellegi & Sunter 1969; on ratings Torres & Olivares 2024",
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
        name="membership",
        module="starshade.attack.shadows.membership",
        cls="MembershipAttack",
        title="Is this person in it?",
        summary="Tell who is in a release by how much better they fit it than one without them.",
        source="Shokri, Stronati, Song & Shmatikov 2017; Zhang et al. 2021",
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
        name="predicate",
        module="starshade.attack.predicate.predicate",
        cls="PredicateAttack",
        summary="Write conditions, from the release alone, that one real person meets.",
        source="Cohen & Nissim 2020; Cohen 2022",
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
