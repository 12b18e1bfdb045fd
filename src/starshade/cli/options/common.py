"""Which options `--help` shows, by command; `--help-all` shows all."""

from __future__ import annotations

from collections.abc import Mapping

#: options in `--help`, at most, --help included; a command with no more shows all
MOST = 20
EXECUTION = frozenset({"as_json", "quiet", "seed"})
#: how ratings are read; those of a command without an entry of its own
READ = frozenset({"users", "item_names", "format", "wide", "scale", "on_duplicate", "items"})
_COLUMNS = READ | {"user_col", "item_col", "rating_col", "day_col", "null_values", "delimiter"}
_AUDIT = READ | {"private", "policy", "threshold", "known", "targets", "shadows", "earlier"}
_STUDY = READ | {"data", "runs", "out", "resume"}

COMMON: Mapping[str, frozenset[str]] = {
    "init": _COLUMNS | {"yes"},
    "data describe": _COLUMNS,
    "data convert": _COLUMNS | {"out", "kind", "shards"},
    "data split": READ | {"out", "probe", "share"},
    "attack": READ | {"name", "targets", "original", "private", "known", "dates", "aux"}
    | {"rating_error", "risk_list"},
    "check": READ | {"model", "k", "original", "explain", "graph"},
    "anonymize": READ - {"item_names"} | {"method", "k", "item_support", "policy", "threshold"}
    | {"out", "private", "no_key_file", "after", "after_private"},
    "measure": READ | {"private", "probe", "resume"},
    "audit": _AUDIT | {"earlier_private", "details", "report"},
    "report": _AUDIT - {"wide", "on_duplicate", "targets", "item_names"}
    | {"earlier_private", "out", "public", "template", "pdf", "risk_list", "context"},
    "compare": READ | {"methods", "k", "known", "targets", "shadows", "policy", "held_out", "out"},
    "reproduce ns": _STUDY | {"targets"},
    "reproduce kl": _STUDY | {"attribute", "most_k", "draws"},
    "reproduce pa": _STUDY | {"n_users", "n_items", "k"},
    "reproduce sr": _STUDY | {"sensitive", "top", "trials"},
    "reproduce sq": _STUDY | {"sensitive", "top", "repeats"},
    "reproduce all": _STUDY,
}  # fmt: skip
