"""The commands that are recorded, in groups; each writes into a folder of its own name.

A path that begins with the name of another entry or source is made before it is needed.
"""

from __future__ import annotations

#: group -> name -> command line; {} is the folder of the entry
GROUPS: dict[str, dict[str, str]] = {}

_HALF, _GIANT, _FLIX = (f"{name}/ratings.csv" for name in ("half", "giant", "flix"))
_ML = "ml/ratings.csv --users ml/ratings.users.csv"
_SURVEY = "survey/ratings.csv --wide --attribute-cols Age,Gender,Region,Education"

GROUPS["data"] = {
    "ml": "data synth --n-users 120 --n-items 25 --n-ratings 1200 --seed 1 --out {}/ratings.csv",
    "flix": "data synth --like netflix --n-users 150 --n-items 40 --n-ratings 1500 --seed 2"
    " --out {}/ratings.csv",
    "survey": "data synth --like survey --n-users 100 --n-items 8 --seed 3 --to wide"
    " --out {}/ratings.csv",
    "synth-parquet": "data synth --n-users 40 --n-items 12 --n-ratings 200 --seed 5"
    " --out {}/made.parquet",
    "synth-store": "data synth --n-users 40 --n-items 12 --n-ratings 200 --seed 5 --out {}/store",
    "describe-ml": f"data describe {_ML}",
    "describe-flix": f"data describe {_FLIX}",
    "describe-survey": f"data describe {_SURVEY}",
    "describe-half": f"data describe {_HALF}",
    "describe-giant": f"data describe {_GIANT}",
    "describe-items": f"data describe {_ML} --items top:5 --scale 1:5:1",
    "describe-twice": "data describe twice/ratings.csv --on-duplicate mean",
    "describe-twice-last": "data describe twice/ratings.csv --on-duplicate last",
    "describe-twice-error": "data describe twice/ratings.csv",
    "describe-missing": "data describe ml/no.csv",
    "describe-store": "data describe store/s",
    "describe-shards": "data describe shards/s",
    "describe-classes": "data describe x4/release",
    "describe-profiles": "data describe p5/release",
    "describe-records": "data describe i3/release",
    "store": f"data convert {_ML} --out {{}}/s",
    "to-parquet": f"data convert {_FLIX} --out {{}}/r.parquet",
    "to-recbole": f"data convert {_ML} --out {{}}/r.inter",
    "to-wide": f"data convert {_SURVEY} --to wide --out {{}}/r.csv",
    "to-csv-of-half": f"data convert {_HALF} --out {{}}/r.csv",
    "classes-to-csv": "data convert x4/release --out {}/r.csv",
    "classes-to-recbole": "data convert x4/release --out {}/r.inter",
    "profiles-to-parquet": "data convert p5/release --out {}/r.parquet",
    "split": f"data split {_ML} --share 0.2 --seed 1 --out {{}}/train --probe {{}}/probe",
    "split-store": "data split store/s --seed 2 --out {}/train --probe {}/probe.parquet",
    "split-shards": "data split shards/s --seed 2 --out {}/train.csv --probe {}/probe.csv",
    "split-survey": f"data split {_SURVEY} --seed 2 --out {{}}/train.csv --probe {{}}/probe.csv",
}
GROUPS["partitioned"] = {
    "shards": f"data convert {_ML} --shards 3 --out {{}}/s",
    "one-shard": f"data convert {_ML} --shards 1 --out {{}}/s",
    "flix-shards": f"data convert {_FLIX} --shards 4 --out {{}}/s",
    "giant-shards": f"data convert {_GIANT} --shards 3 --out {{}}/s",
    "half-shards": f"data convert {_HALF} --shards 2 --out {{}}/s",
    "shards-of-store": "data convert store/s --shards 2 --out {}/s",
    "shards-again": "data convert shards/s --shards 5 --out {}/s",
    "shards-append": "data convert later/ratings.csv --append giant-shards/s --on-duplicate last"
    " --out {}/s",
    "shards-twice": "data convert twice/ratings.csv --shards 3 --on-duplicate mean --out {}/s",
    "shards-to-csv": "data convert shards/s --out {}/r.csv",
    "shards-to-store": "data convert flix-shards/s --out {}/s",
    "shards-memory": f"data convert {_ML} --shards auto --out {{}}/s",
}


def _release(source: str, settings: str) -> str:
    return f"anonymize {source} {settings} --out {{}}/release --private {{}}/key.json"


_TOP = f"{_ML} --items top:10"
_GENERAL = "--attributes generalized --quasi Age --quasi Gender"
GROUPS["predictive"] = {
    name: _release(source, f"--method predictive {settings}")
    for name, source, settings in (
        ("p5", _ML, "--k 5 --seed 1"),
        ("p5-seed", _ML, "--k 5 --seed 2"),
        ("p3-giant", _GIANT, "--k 3 --seed 1"),
        ("p4-half", _HALF, "--k 4 --seed 1"),
        ("p5-flix", _FLIX, "--k 5 --seed 3"),
        ("p4-survey", _SURVEY, "--k 4 --seed 1"),
        ("p5-padded", _ML, "--k 5 --seed 1 --profile padded"),
        ("p5-simple", _ML, "--k 5 --seed 1 --profile simple"),
        ("p5-model", _ML, "--k 5 --seed 1 --profile model --clip cells"),
        ("p5-raters", _ML, "--k 5 --seed 1 --profile simple --min-raters 2"),
        ("p4-diverse", _ML, "--k 4 --seed 1 --profile simple --b 2 --l 3"),
        ("p4-mean", _ML, "--k 4 --seed 1 --profile simple --b 2 --l 3 --fake-edges mean"),
        (
            "p5-paper",
            _ML,
            "--k 5 --seed 1 --profile padded --grouping t-means --dissimilarity weighted-sq"
            " --no-biases",
        ),
        (
            "p5-close",
            _FLIX,
            "--k 5 --seed 1 --profile padded --grouping t-means --dissimilarity closeness-0.5",
        ),
        ("p5-factors", _FLIX, "--k 5 --seed 1 --factors 5 --sweeps 4 --regularization 0.1"),
        ("p6-support", _GIANT, "--k 6 --seed 1 --item-support 10% --weights uniform"),
        ("p5-keep", _GIANT, "--k 5 --seed 1 --rare-items keep --profile-step 0.25"),
        ("p5-slack", _ML, "--k 5 --seed 1 --slack 2"),
        (
            "p5-after",
            "later/ratings.csv",
            "--k 5 --seed 1 --after p5-slack/release --after-private p5-slack/key.json",
        ),
        ("p5-shards", "shards/s", "--k 5 --seed 1"),
        ("p5-shards-simple", "shards/s", "--k 5 --seed 1 --profile simple"),
        ("p5-one-shard", "one-shard/s", "--k 5 --seed 1"),
        ("p4-flix-shards", "flix-shards/s", "--k 4 --seed 2 --profile padded"),
        ("p4-giant-shards", "giant-shards/s", "--k 4 --seed 2 --profile model"),
        ("p4-half-shards", "half-shards/s", "--k 4 --seed 2"),
        ("p5-shards-whole", "shards/s", "--k 5 --seed 1 --profile simple --l 2"),
        ("p-policy", "synth-parquet/made.parquet", "--policy controlled --seed 1"),
    )
}
GROUPS["classes"] = {
    name: _release(source, settings)
    for name, source, settings in (
        ("x4", _TOP, "--method k-exchange --k 4 --seed 1"),
        ("x4-seed", _TOP, "--method k-exchange --k 4 --seed 2"),
        ("x3-range", _TOP, "--method k-exchange --k 3 --seed 1 --hierarchy range"),
        ("x3-weight", _TOP, "--method k-exchange --k 3 --seed 1 --disclosure-weight 0.2"),
        ("x3-survey", _SURVEY, "--method k-exchange --k 3 --seed 1"),
        ("x3-half", _HALF + " --items top:8", "--method k-exchange --k 3 --seed 1"),
        ("x3-giant", _GIANT + " --items top:12", "--method k-exchange --k 3 --seed 1"),
        ("x3-people", _TOP, f"--method k-exchange --k 3 --seed 1 {_GENERAL}"),
        ("x3-exact", _TOP, "--method k-exchange --k 3 --seed 1 --attributes exact"),
        ("x3-shards", "shards/s --items top:6", "--method k-exchange --k 3 --seed 1"),
        ("x4-slack", _TOP, "--method k-exchange --k 4 --seed 1 --slack 1"),
        (
            "x4-after",
            "later/ratings.csv --items top:10",
            "--method k-exchange --k 4 --seed 1 --after x4-slack/release"
            " --after-private x4-slack/key.json",
        ),
        ("l4", _TOP, "--method k-likeness --k 4 --seed 1"),
        ("l3-dgh", _TOP, "--method k-likeness --k 3 --seed 2 --hierarchy dgh"),
        ("l3-dgh-a", _SURVEY, "--method k-likeness --k 3 --seed 1 --hierarchy range"),
        ("l3-half", _HALF + " --items top:8", "--method k-likeness --k 3 --seed 1"),
        (
            "l3-people",
            _TOP,
            f"--method k-likeness --k 3 --seed 1 {_GENERAL} --l 2 --t 0.9"
            " --sensitive-attribute Occupation",
        ),
        ("m4", _TOP, "--method k-member --k 4 --seed 1"),
        ("m3-survey", _SURVEY, "--method k-member --k 3 --seed 2"),
        ("m3-half", _HALF + " --items top:8", "--method k-member --k 3 --seed 1"),
        ("m3-people", _TOP, f"--method k-member --k 3 --seed 1 {_GENERAL}"),
        ("d4", _TOP, "--method mondrian --k 4 --seed 1"),
        ("d3-survey", _SURVEY, "--method mondrian --k 3 --seed 1 --hierarchy ndgh"),
        ("d3-giant", _GIANT + " --items top:12", "--method mondrian --k 3 --seed 1"),
        (
            "d5-intervals",
            f"{_TOP} --scale 1:5:0.1",
            "--method mondrian --k 5 --seed 1 --hierarchy fixed-intervals",
        ),
        ("e4", _TOP, "--method mondrian-relaxed --k 4 --seed 1"),
        ("e3-survey", _SURVEY, "--method mondrian-relaxed --k 3 --seed 1"),
        ("e3-people", _TOP, f"--method mondrian-relaxed --k 3 --seed 1 {_GENERAL}"),
    )
}
GROUPS["records"] = {
    name: _release(source, settings)
    for name, source, settings in (
        ("i3", f"{_ML} --items top:6", "--method interval --k 3 --eps 1 --nulls ignore --seed 1"),
        ("i3-seed", _SURVEY, "--method interval --k 3 --eps 1 --nulls ignore --seed 2"),
        ("i3-strict", _SURVEY, "--method interval --k 3 --eps 2 --seed 1"),
        (
            "i3-spread",
            _SURVEY,
            "--method interval --k 3 --eps 2 --l 0.3 --sensitive s01 --nulls ignore --seed 1",
        ),
        ("i3-whole", _SURVEY, "--method interval --k 3 --eps 2 --partition whole --seed 1"),
        (
            "i3-half",
            f"{_HALF} --items top:5",
            "--method interval --k 3 --eps 0.5 --nulls zero --seed 1",
        ),
        ("s3", f"{_ML} --items top:6", "--method suppress --k 3 --eps 1 --nulls ignore --seed 1"),
        ("s3-survey", _SURVEY, "--method suppress --k 3 --eps 2 --nulls ignore --seed 1"),
        (
            "s3-spread",
            _SURVEY,
            "--method suppress --k 3 --eps 2 --l 0.3 --sensitive s01 --nulls ignore --seed 1",
        ),
        (
            "s3-half",
            f"{_HALF} --items top:5",
            "--method suppress --k 3 --eps 1 --nulls zero --seed 1",
        ),
    )
}
_ATTACKS = {
    "composition": "--known 3 --targets 40",
    "fake-edges": "",
    "homogeneity": "--known 3 --targets 40 --absent --by structure",
    "inference": "--known 2 --shadows 2 --questions 5",
    "label": "--known 3 --targets 40",
    "likelihood": "--known 3 --targets 40 --absent",
    "link-existence": "",
    "membership": "--known 3 --shadows 1",
    "padding": "--classes 10",
    "predicate": "--classes 10",
    "scoreboard": "--known 3 --targets 40 --absent --wrong 1",
    "scoreboard-rh": "--known 3 --targets 40 --absent --wrong 1",
    "structure": "--known 3 --targets 40",
    "tracker": "--conditions 2 --background Age",
}
#: what an attack needs on a release
_EARLIER = {"composition": " --earlier {0}/release --earlier-private {0}/key.json"}


def _attack(name: str, data: str, more: str) -> str:
    return f"attack {data} --attack {name} --seed 1 {_ATTACKS[name]}{more}"


def _on_release(name: str, made: str, original: str, earlier: str) -> str:
    more = f" --original {original} --private {made}/key.json"
    return _attack(name, f"{made}/release", more + _EARLIER.get(name, "").format(earlier))


GROUPS["attack ratings"] = {
    **{f"attack-ml-{name}": _attack(name, _ML, "") for name in _ATTACKS},
    **{f"attack-shards-{name}": _attack(name, "shards/s", "") for name in _ATTACKS},
    "attack-survey": f"attack {_SURVEY} --known 4 --seed 1",
    "attack-giant": f"attack {_GIANT} --known 8 --outside-top 3 --no-dates --seed 1",
    "attack-half": f"attack {_HALF} --known 4 --rating-error 0.5 --seed 1 --about-count",
    "attack-no-ratings": f"attack {_ML} --known 4 --no-ratings --seed 1",
    "attack-wrong-item": f"attack {_ML} --known 4 --wrong 1 --wrong-kind item --seed 1",
    "attack-aux": f"attack {_ML} --aux aux/ratings.csv --one-to-one --seed 1",
    "attack-aux-store": "attack shards/s --aux aux/ratings.csv --seed 1",
    "attack-risk": f"attack {_ML} --known 2 --targets 20 --seed 1 --risk-draws 3"
    " --risk-list {}/risk.csv",
}
GROUPS["attack releases"] = {
    **{f"attack-p5-{name}": _on_release(name, "p5", _ML, "p5-seed") for name in _ATTACKS},
    **{
        f"attack-simple-{name}": _on_release(name, "p4-diverse", _ML, "p5-simple")
        for name in ("fake-edges", "label", "structure", "homogeneity", "padding", "predicate")
    },
    **{f"attack-x4-{name}": _on_release(name, "x4", _ML, "x4-seed") for name in _ATTACKS},
    **{
        f"attack-i3-{name}": _on_release(name, "i3", f"{_ML}", "i3")
        for name in ("label", "likelihood", "membership", "scoreboard-rh", "tracker")
    },
    **{
        f"attack-p5-shards-{name}": _on_release(name, "p5-shards", "shards/s", "p5")
        for name in _ATTACKS
    },
    "attack-x3-people-tracker": _on_release("tracker", "x3-people", _ML, ""),
    "attack-x3-exact-tracker": _on_release("tracker", "x3-exact", _ML, ""),
    "attack-no-key": f"attack x4/release --original {_ML} --known 3 --seed 1",
    "attack-no-original": "attack x4/release --known 3 --seed 1",
}
_MODELS = {
    "alpha-k": "--alpha 0.7 --k 2 --attribute Occupation",
    "diversity": "--b 1 --l 2",
    "k-anonymity": "--k 2",
    "k-eps": "--k 3 --eps 1",
    "k-eps-l": "--k 3 --eps 1 --l 0.3 --sensitive 2",
    "k-m": "--k 3 --m 1",
    "l-diversity": "--l 2 --attribute Occupation",
    "review-graph": "--k 2",
    "t-closeness": "--t 0.5 --attribute Occupation",
}
_ON_RELEASE = f" --original {_ML}"
GROUPS["check and verify"] = {
    **{
        f"check-{label}-{model}": f"check {data} --model {model} {settings}{more}"
        for label, data, more in (
            ("ml", _ML, ""),
            ("shards", "shards/s", ""),
            ("people", "l3-people/release", ""),
            ("profiles", "p4-diverse/release", ""),
        )
        for model, settings in _MODELS.items()
        if label != "profiles" or "--attribute" not in settings
    },
    **{
        f"check-claims-{name}": f"check {name}/release"
        for name in ("p5", "p4-diverse", "x4", "l3-people", "d4", "i3", "i3-spread", "s3")
    },
    "check-diversity-2": "check p4-diverse/release --model diversity --b 2 --l 3",
    "check-diversity-original": "check p4-diverse/release --model diversity --b 2 --l 3"
    + _ON_RELEASE,
    "check-k-m-original": f"check x4/release --model k-m --k 3 --m 2{_ON_RELEASE}",
    "check-explain": f"check {_SURVEY} --model k-eps --k 3 --eps 1 --explain --graph",
    "check-ignore": f"check {_ML} --items top:5 --model k-eps --k 3 --eps 1 --nulls ignore --full",
    "check-shards-zero": "check shards/s --model k-eps --k 3 --eps 1 --nulls zero",
    "check-shards-eps-0": "check flix-shards/s --model k-eps --k 2 --eps 0",
    "check-clique": f"check {_SURVEY} --model k-eps --k 3 --eps 2 --groups clique",
    **{
        f"verify-{name}": f"verify {name}/release"
        for name in ("p5", "p5-shards", "p4-diverse", "x4", "x3-exact", "l3-people", "i3", "s3")
    },
}
GROUPS["measure"] = {
    **{
        f"measure-{name}": f"measure {source} {name}/release --private {name}/key.json"
        for name, source in (
            ("p5", _ML),
            ("p4-diverse", _ML),
            ("p5-shards", "shards/s"),
            ("p5-one-shard", "one-shard/s"),
            ("x4", _ML),
            ("x3-people", _ML),
            ("x3-survey", _SURVEY),
            ("l3-half", _HALF),
            ("i3", _ML),
            ("s3-survey", _SURVEY),
        )
    },
    "measure-no-key": f"measure {_ML} x4/release",
    "measure-shards-table": f"measure {_ML} p5-shards/release --private p5-shards/key.json",
    "probed": _release("split/train", "--method predictive --k 5 --seed 1"),
    "split-shard": "data convert split/train --shards 3 --out {}/s",
    "probed-shards": _release("split-shard/s", "--method predictive --k 5 --seed 1"),
    "measure-probe": "measure split/train probed/release --private probed/key.json"
    " --probe split/probe",
    "measure-shards-probe": "measure split-shard/s probed-shards/release"
    " --private probed-shards/key.json --probe split/probe",
}
GROUPS["audit"] = {
    **{
        f"audit-{name}": f"audit {source} {name}/release --private {name}/key.json --seed 1"
        f" --targets 50 --shadows {shadows}{more}"
        for name, source, shadows, more in (
            ("p5", _ML, 2, " --details"),
            ("p5-shards", "shards/s", 1, ""),
            ("p4-flix-shards", "flix-shards/s", 0, " --policy public"),
            ("p5-after", "later/ratings.csv", 0, " --earlier p5-slack/release"),
            ("x4", _ML, 1, " --threshold class-size=5"),
            ("l3-people", _ML, 0, " --policy controlled"),
            ("x3-survey", _SURVEY, 0, " --known 3"),
            ("i3", _ML, 1, ""),
            ("s3-survey", _SURVEY, 0, ""),
        )
    },
    "audit-no-key": f"audit {_ML} x4/release --seed 1 --shadows 0 --targets 50",
}
GROUPS["compare, query, list and erase"] = {
    "compare-classes": f"compare {_TOP} --methods k-exchange,mondrian,k-likeness --k 3,5"
    " --targets 40 --seed 1",
    "compare-predictive": f"compare {_FLIX} --methods predictive --k 4,8 --targets 40 --seed 1"
    " --held-out 0.1",
    "compare-survey": f"compare {_SURVEY} --methods k-member,mondrian-relaxed --k 3 --targets 40"
    " --seed 1 --policy partner",
    "compare-shards": "compare shards/s --methods predictive --k 5 --targets 40 --seed 1",
    **{
        f"query-{label}": f"query {release}/release {sql}"
        for label, release, sql in (
            ("count", "x4", "'SELECT COUNT(*) WHERE \"3\" >= 4'"),
            ("and", "x4", '\'SELECT COUNT(*) WHERE "3" >= 4 AND "17" = 5\''),
            ("paper", "x3-exact", "'SELECT AVG(Age) WHERE \"3\" >= 4' --mode paper"),
            ("bounds", "x3-exact", "'SELECT AVG(Age) WHERE \"3\" >= 4' --bounds Age=0:120"),
            ("sum", "x3-people", "'SELECT SUM(Age) WHERE \"3\" <= 3'"),
            ("refused", "x3-exact", "'SELECT AVG(Age) WHERE \"3\" >= 4'"),
            ("unknown", "x4", "'SELECT COUNT(*) WHERE \"no\" >= 4'"),
            ("profiles", "p5", "'SELECT COUNT(*) WHERE \"3\" >= 4'"),
            ("records", "i3", "'SELECT COUNT(*) WHERE \"3\" >= 4'"),
        )
    },
    **{
        f"list-{kind}": f"list {kind}"
        for kind in ("attacks", "models", "methods", "measures", "policies", "settings")
    },
    "list-all": "list",
    "erase-dry": "erase few/ids.txt x4/key.json p5/key.json --dry-run --release x4/release",
    "erasable": _release(_TOP, "--method mondrian --k 4 --seed 1"),
    "erase": "erase few/ids.txt erasable/key.json --release erasable/release",
    "erase-none": "erase few/none.txt x4/key.json --dry-run",
}
