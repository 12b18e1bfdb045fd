"""The models that ``starshade list models`` names."""

from __future__ import annotations

from starshade.registry import Entry

_SETTINGS = "starshade.privacy.settings"

ENTRIES = (
    Entry(
        name="alpha-k",
        module="starshade.privacy.attribute",
        cls="AlphaK",
        settings=_SETTINGS,
        summary="k-anonymity, and no value of an attribute has more than a share alpha of a class.",
        source="Wong, Li, Fu & Wang 2006",
    ),
    Entry(
        name="diversity",
        module="starshade.privacy.item_diversity",
        cls="Diversity",
        settings=_SETTINGS,
        summary="Any b items that a user rated together appear in at least l different profiles.",
        source="Chang, Thompson, Wang & Yao 2009, Defs 5.2, 5.3",
    ),
    Entry(
        name="k-anonymity",
        module="starshade.privacy.k_anonymity",
        cls="KAnonymity",
        settings=_SETTINGS,
        summary="Every record equals at least k-1 others on every released cell.",
        source="Riyana & Natwichai 2018, Def. 9; Sweeney 2002",
    ),
    Entry(
        name="k-eps",
        module="starshade.privacy.k_eps",
        cls="KEpsAnonymity",
        settings=_SETTINGS,
        summary="Every record has at least k-1 others within eps on each item not sensitive.",
        source="Sun & Sun 2013, Def. 2",
    ),
    Entry(
        name="k-eps-l",
        module="starshade.privacy.k_eps",
        cls="KEpsLAnonymity",
        settings=_SETTINGS,
        summary="k-eps, and each sensitive item spreads by at least l among these records.",
        source="Sun & Sun 2013, Def. 3",
    ),
    Entry(
        name="k-m",
        module="starshade.privacy.k_m",
        cls="KM",
        settings=_SETTINGS,
        summary="Any m ratings of a person, or fewer, agree with no record or at least k.",
        source="Terrovitis, Mamoulis & Kalnis 2008",
    ),
    Entry(
        name="l-diversity",
        module="starshade.privacy.attribute",
        cls="LDiversity",
        settings=_SETTINGS,
        summary="Each class has at least l different values of an attribute.",
        source="Machanavajjhala, Gehrke, Kifer & Venkitasubramaniam 2006",
    ),
    Entry(
        name="review-graph",
        module="starshade.privacy.k_anonymity",
        cls="ReviewGraph",
        settings=_SETTINGS,
        summary="Every record has at least k-1 others with the same items and the same ratings.",
        source="Chang, Thompson, Wang & Yao 2009, Def. 3.3",
    ),
    Entry(
        name="t-closeness",
        module="starshade.privacy.attribute",
        cls="TCloseness",
        settings=_SETTINGS,
        summary="In each class an attribute is distributed within t of the whole table.",
        source="Li, Li & Venkatasubramanian 2007",
    ),
)
