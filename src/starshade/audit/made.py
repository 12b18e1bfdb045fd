"""The summary of a release that was just made."""

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
    # ``fake_edges``, cells imputed for (b, l)-diversity, None where it was not requested
    figures: dict[str, Any]
    claims: tuple[Claim, ...] = ()  # as verified on its files

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
            f"{self._left_out()}{self._disclosed()}{self._attributes()}"
        )

    def _attributes(self) -> str:
        manifest = self.release.manifest
        names = ", ".join(manifest.attribute_columns)
        if manifest.attributes == "exact":
            return (
                f" Not for publication: the release holds exact personal attributes ({names}). It "
                "is for a query service only, and only you can read the folder."
            )
        parts = []
        if manifest.quasi_identifiers:
            parts.append(
                f"{', '.join(manifest.quasi_identifiers)} as quasi-identifiers (equal within a "
                "class)"
            )
        for name in manifest.sensitive_attributes:
            text = f"{name} as a sensitive attribute (unchanged)"
            parts.append(", ".join([text, *map(_spread, self._about(name))]))
        return f" Also released: {'; '.join(parts)}." if parts else ""

    def _about(self, name: str) -> list[Claim]:
        return [claim for claim in self.claims if claim.parameters.get("attribute") == name]

    def _hidden(self) -> str:
        f = self.figures
        if self.release.manifest.layout != "record":
            return (
                f"in {counted(f['classes'], 'class', 'classes')} of at least {f['k']} equal records"
                f"{self.release.manifest.alike_by}; smallest class: {f['smallest_class']:,}."
            )
        if f["distortion"] is None or self.release.manifest.imputed_cells is None:
            changed = "No rating was changed."
        else:
            changed = f"Ratings were moved by {f['distortion']:,.10g} in total."
        if self._equal:
            differ = f"Smallest class: {f['smallest_class']:,}."
        else:
            differ = (
                f"These records are near, not equal ({f['classes']:,} different ones): an "
                "adversary who knows exact ratings may find a person's record."
            )
        distance = self._proximity()
        return f"each with their own record, one of at least {f['k']}{distance}. {differ} {changed}"

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
        text = f" whose ratings differ by at most {parameters['eps']:g}"
        if self.release.manifest.sensitive_items:
            text += " on every item that is not sensitive"
        if "l" in parameters:
            text += (
                "; among them the ratings of each rated sensitive item have a standard deviation "
                f"of at least {parameters['l']:g}"
            )
        return text

    def _disclosed(self) -> str:
        f = self.figures
        layout = self.release.manifest.layout
        if layout == "profile":
            return self._averaged()
        if layout == "record":
            what = "class" if self._equal else "record"
            sensitive = ", sensitive ones included" * bool(self.release.manifest.sensitive_items)
            return f"An adversary who finds a {what} reads its ratings{sensitive}."
        shares = rated_in_words(f, fine=self.release.scale.fine)
        return f"k-anonymity does not prevent attribute disclosure: {shares}"

    def _averaged(self) -> str:
        manifest, f = self.release.manifest, self.figures
        if manifest.profile not in MEANS:
            return (
                "A profile holds a model's predictions for its class. It contains no original "
                "rating, but the model was trained on all of them."
            )
        single = percent(f["single_rater_cells"])
        if manifest.profile == "padded":
            return (
                "A profile is the mean over its class of ratings and, for unrated items, "
                f"predictions. {percent(f['imputed_cells'])} of cells are imputed (predictions "
                f"alone); {single} rest on the rating of one member."
            )
        sentences = [
            "A profile has the mean rating of the members who rated an item; "
            f"{single} of cells show the rating of one member."
        ]
        if f["fake_edges"] is not None:
            sentences.append(self._fakes())
        if not f["fake_edges"] and manifest.config.get("min_raters", 1) == 1:
            sentences.append("No member rated an item that is missing from their profile.")
        return " ".join(sentences)

    def _fakes(self) -> str:
        f, config = self.figures, self.release.manifest.config
        if f["fake_edges"]:
            many = f"{counted(f['fake_edges'], 'imputed cell')} ({percent(f['imputed_cells'])})"
            return f"Fake edges: {many}, which hide who rated what."
        what = "every rated item is"
        if config["b"] > 1:
            what = f"all sets of up to {config['b']} items that a person rated are"
        return f"Fake edges: none (0); {what} already in {counted(config['l'], 'profile')}."

    def _people(self) -> str:
        nobodys = self.figures["dummy_records"]
        if not nobodys:
            return counted(self.figures["records"], "user")
        people = counted(self.figures["records"] - nobodys, "user")
        return f"{people} and {counted(nobodys, 'dummy record')}"

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
            parts.append(f"{counted(f['users_deleted'], 'user')} removed by the method")
        left = f"Left out: {', '.join(parts)}. " if parts else ""
        if self._item_support is not None and f["utility_left_out"] is not None:
            gone = percent(f["utility_left_out"])
            left += f"{gone} of all ratings are on items or of people left out. "
        nobodys = f["dummy_records"]
        if nobodys is None:
            return left
        share = percent(nobodys / max(f["records"], 1))
        places = f"; dummy records ({share}) pad classes to {f['k']}"
        return f"{left}Classes of the previous release are kept{places if nobodys else ''}. "


def _spread(claim: Claim) -> str:
    verified = claim.verified
    if claim.model == "l-diversity":
        values = counted(int(verified["smallest_l"]), "different value")
        return f"at least {values} in every class"
    return f"within {verified['largest_t']:.4g} of the overall distribution in every class"
