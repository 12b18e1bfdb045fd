"""What a release that was just made says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starshade.audit.measure import figures_found
from starshade.audit.shares import rated_in_words
from starshade.figure import Figure, Shown
from starshade.plain import counted, percent
from starshade.release import MEANS
from starshade.release.manifest import Claim
from starshade.release.table import Release


@dataclass(frozen=True)
class Made(Shown):
    """A release that was saved, and its figures."""

    release: Release
    # ``method, k, records, items, groups, classes, smallest_class, dm, c_avg, gen_iloss,
    # distortion, imputed_cells, rare_items_dropped, users_dropped, users_deleted,
    # users_rating_disclosed, users_rating_exists, records_alone_with_sensitive, seconds,
    # peak_rss_mb, out``; None where a figure does not apply; ``median_class`` and
    # ``largest_class``, of the sets of equal records as `smallest_class`; ``single_rater_cells``;
    # ``fake_edges``, released cells invented for (b, l)-diversity, None where it was not requested
    figures: dict[str, Any]
    claims: tuple[Claim, ...] = ()  # what the release promises, with what was counted on its files

    def to_dict(self) -> dict[str, Any]:
        """Return the figures."""
        return dict(self.figures)

    @property
    def found(self) -> tuple[Figure, ...]:
        """The figures that apply, as they are declared."""
        return figures_found(self.figures)

    def _headline(self) -> str:
        return f"{self.figures['method']}: {self.figures['out']}"

    def __str__(self) -> str:
        f = self.figures
        return (
            f"{f['out']}: {self._people()} on "
            f"{counted(f['items'], 'item')}, {self._hidden()} "
            f"{self._left_out()}Hiding among "
            f"{f['k']} is not hiding what you rated: {self._disclosed()}{self._attributes()}"
        )

    def _attributes(self) -> str:
        manifest = self.release.manifest
        names = ", ".join(manifest.attribute_columns)
        if manifest.attributes == "exact":
            return (
                f" Not for publication: for a query service only, as personal attributes ({names}) "
                "are in it exactly as they were; you alone may read the folder."
            )
        parts = []
        if manifest.quasi_identifiers:
            parts.append(
                f"{', '.join(manifest.quasi_identifiers)} as quasi-identifiers (equal within a "
                "group)"
            )
        for name in manifest.sensitive_attributes:
            text = f"{name} as a sensitive attribute (as it was)"
            parts.append(", ".join([text, *map(_spread, self._about(name))]))
        return f" Released besides: {'; '.join(parts)}." if parts else ""

    def _about(self, name: str) -> list[Claim]:
        return [claim for claim in self.claims if claim.parameters.get("attribute") == name]

    def _hidden(self) -> str:
        f = self.figures
        if self.release.manifest.layout != "record":
            return (
                f"in {f['groups']:,} group{'s' * (f['groups'] != 1)} of at least {f['k']} whose "
                f"members look the same{self.release.manifest.alike_by}; "
                f"the smallest set of such records has {f['smallest_class']:,}."
            )
        if f["distortion"] is None or self.release.manifest.imputed_cells is None:
            changed = "No rating was changed."
        else:
            changed = f"To reach that, ratings were moved by {f['distortion']:,.10g} in all."
        if self._equal:
            differ = f"The smallest set of equal records has {f['smallest_class']:,}."
        else:
            differ = (
                f"Such records are near, not equal ({f['classes']:,} different ones): who knows a "
                "person's exact ratings may find their record."
            )
        distance = self._proximity()
        return f"each a record of its own, one of at least {f['k']}{distance}. {differ} {changed}"

    @property
    def _equal(self) -> bool:
        """Whether at least k records are equal wherever one is."""
        return bool(self.figures["smallest_class"] >= self.figures["k"])

    def _proximity(self) -> str:
        parameters: dict[str, Any] = {}
        for claim in self.release.manifest.claims:
            parameters |= claim.parameters
        if "eps" not in parameters:
            return ""
        text = f" whose ratings differ from theirs by no more than {parameters['eps']:g}"
        if self.release.manifest.sensitive_items:
            text += " on every item that is not sensitive"
        if "l" in parameters:
            text += (
                "; among these the ratings of each sensitive item spread by a standard deviation "
                f"of at least {parameters['l']:g}, unless nobody rated it"
            )
        return text

    def _disclosed(self) -> str:
        f = self.figures
        layout = self.release.manifest.layout
        if layout == "profile":
            return self._averaged()
        if layout == "record":
            what = "set of equal records" if self._equal else "record"
            return f"whoever finds a {what} reads its ratings" + (
                ", sensitive ones included." if self.release.manifest.sensitive_items else "."
            )
        return rated_in_words(f, fine=self.release.scale.fine)

    def _averaged(self) -> str:
        manifest, f = self.release.manifest, self.figures
        if manifest.profile not in MEANS:
            return (
                "a profile says what the model predicts for a group. No rating is in it as it "
                "was, but all of them taught the model."
            )
        single = percent(f["single_rater_cells"])
        if manifest.profile == "padded":
            return (
                "a profile is the mean of its members' ratings and, where they gave none, of "
                f"predictions. {percent(f['imputed_cells'])} of the cells are predictions alone; "
                f"{single} rest on the rating of one member."
            )
        sentences = [
            "a profile has the mean rating of those of its members who rated an item; "
            f"{single} of its cells show the rating of one member."
        ]
        if f["fake_edges"] is not None:
            sentences.append(self._fakes())
        if not f["fake_edges"] and manifest.config.get("min_raters", 1) == 1:
            sentences.append("An item that is not in a profile was rated by none of its members.")
        return " ".join(sentences)

    def _fakes(self) -> str:
        f, config = self.figures, self.release.manifest.config
        if f["fake_edges"]:
            many = f"{counted(f['fake_edges'], 'cell')}, {percent(f['imputed_cells'])} of all, were"
            were = many if f["fake_edges"] > 1 else "1 cell was"
            return f"Fake edges: {were} invented, to hide who rated what."
        what = "every item that somebody rated was"
        if config["b"] > 1:
            what = f"all sets of up to {config['b']} items that somebody rated together were"
        profiles = f"{config['l']} profile{'s' * (config['l'] != 1)}"
        return f"Fake edges: none (0), {what} in {profiles} already."

    def _people(self) -> str:
        nobodys = self.figures["dummy_records"]
        if not nobodys:
            return counted(self.figures["records"], "user")
        people = counted(self.figures["records"] - nobodys, "user")
        return f"{people} and {counted(nobodys, 'record')} that are nobody's"

    @property
    def _item_support(self) -> int | str | None:
        support: int | str | None = self.release.manifest.config.get("item_support")
        return support

    def _raters(self, whose: str) -> str:
        """Say how many raters an item needed."""
        k, support = f"{self.figures['k']} {whose}", self._item_support
        if support is None:
            return k
        needed = f"{support} of all users" if isinstance(support, str) else f"{support:,} users"
        return needed if self.release.manifest.rare_items == "keep" else f"{k} or {needed}"

    def _left_out(self) -> str:
        f, parts = self.figures, []
        if f["users_dropped"]:
            parts.append(f"{counted(f['users_dropped'], 'user')} without a rating on these items")
        if f["rare_items_dropped"]:
            # the others may have rated them
            whose = "of those who stay" if f["method"] == "suppress" else "users"
            rare = counted(f["rare_items_dropped"], "item")
            parts.append(f"{rare} that fewer than {self._raters(whose)} rated")
        if f["users_deleted"]:
            parts.append(f"{counted(f['users_deleted'], 'user')} who could not be hidden so")
        left = f"Left out: {', '.join(parts)}. " if parts else ""
        if self._item_support is not None and f["utility_left_out"] is not None:
            gone = percent(f["utility_left_out"])
            left += f"Of all ratings {gone} are on items or of people left out. "
        nobodys = f["dummy_records"]
        if nobodys is None:
            return left
        share = percent(nobodys / max(f["records"], 1))
        places = f"; records of nobody fill groups up to {f['k']} ({share})"
        return f"{left}Who hid together goes on doing so{places if nobodys else ''}. "


def _spread(claim: Claim) -> str:
    verified = claim.verified
    if claim.model == "l-diversity":
        return f"{counted(int(verified['smallest_l']), 'different value')} or more in every class"
    return f"in no class distributed more than {verified['largest_t']:.4g} away from everybody's"
