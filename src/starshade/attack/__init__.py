"""Attacks: what an adversary with auxiliary knowledge learns from the data.

**Threat model.** A colleague, a neighbour or an employer knows a few facts about one person: some
rated items, with approximate ratings and dates; some facts may be wrong (`Knowledge`). The data
are available without names. The adversary compares the known facts with every record. Rare items
weigh more than popular ones; nearly correct ratings and dates count nearly as much. If the best
record stands out from the second best, the adversary takes it for the target's and learns its
contents; otherwise they abstain. Or they keep a *lineup*: a probability for every record, and the
remaining entropy in bits.

**Measures.** `success`: the record that stands out is the target's. An adversary who must answer
guesses among the best matches: `expected_top1` (re-identification). Within a class no record
stands out, so `success` proves nothing there; `class_contents_known` measures whether the
adversary finds the right *profile*, which k people share. `false_match` counts wrong answers,
with the target present and (`absent`) with their record removed. The baseline is guessing: 1 in
N. A higher φ misses more targets and matches fewer absent ones (`tradeoff`). `risk` measures how
many known ratings re-identify each user.

**Targets.** Users of the original table; their known facts are drawn from it, each target from
a random stream of their own. On a release answers are scored by the link from users to records
where there is one (*linked*), and otherwise by whether the answer is compatible with the target's
true row (*compatible*).

**Computation.** An original table and a release look the same to an attack: rows of cells,
a row standing for one or more identical records (`release.cells`). Rows that are equal cell by
cell are found first: the distinct ones are the *profiles*. For each known item the list of its
raters (postings) is walked, and each rater's score grows by the worth of what their cell says,
read from tables: one entry per cell content (the mean over a generalized cell's members), one per
day. The worths are whole numbers of 2^-20: a sum is the same in any order, scores made of the same
terms are equal, and partial results over blocks of rows merge exactly. (Scores that other terms
make equal in real numbers may come out a few units of 2^-20 apart.)

**Profiles** are dense: a byte a cell, of all items, and as rows of numbers and postings they would
take fifteen times as much. They are read item by item instead (`starshade.release.columns`): eight
known items are eight columns, and of the items that some targets are known by postings are made,
for as long as these targets are attacked. Everything else is as with other data, and so is every
answer. What is asked of whole rows becomes a question of a few cells: a profile agrees with a
person's truth if it does on what they rated and shows little else, which is counted before; what a
chance owes to how many items a row rated is alike for all rows that are null for the same items,
and found once. A release made again without some people keeps its columns alone, and while the next
is made they lie on disk (`starshade.scratch.put_down`). ::

    Knowledge ── draw ──> Known (per target: items, ratings, days)          knowledge.py
    data, original, link ──> View (rows, postings, who is who)             view.py
    Known + View ──> scores, summaries, masses           kernels/attack/scoreboard.py, postings.py
                 ──> the figures, per target and over all    scoreboard_rh.py, result.py
"""
