"""What somebody who knows a little about a person can find out from the data.

**The attacker's story.** A colleague, a neighbour or an employer knows a handful of things about
one person: a few items that they rated, roughly how, roughly when; some of it is plainly wrong
(`Knowledge`). The data lie open, without names. The attacker compares what they know with every
record. A rare item says more than a popular one, a rating that is nearly right nearly counts,
and so does a day. Then they look at the record that fits best: does it stand out from the
second best by more than chance would make it? If so it is taken for the target's, and everything
else in it is now known about that person; if not, the attacker says that they do not know. Or
they keep a *lineup*: a probability for every record, and ask how many further bits it would take
to point at the right one.

**What counts as success.** `success`: the record that stands out is the target's. An attacker
who must answer guesses among the best fitting records: `expected_top1`. On a release with groups
nobody stands out within a group, so `success` proves nothing there; `class_contents_known` asks whether the
attacker finds the right *profile*, which shows what k people share. `false_match` counts wrong
answers, with the target present and (`absent`) after their record has been taken out. Beside all
of them stands guessing without the data's help: one in N. How sure the attacker wants to be is
φ: raising it misses more targets and matches fewer of those who are not there (`tradeoff`). And
turned round: how little must be known of each user before they are found (`risk`)?

**Who is attacked.** Users of the original table; what is known is drawn from it, each target from
a random stream of their own. On a release the answer is judged by the link from users to records
where there is one (*linked*), and otherwise by whether the answer is compatible with the target's
true row (*compatible*).

**How it is computed.** An original table and a release look the same to an attack: rows of cells,
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
