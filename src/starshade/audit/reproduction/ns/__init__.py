"""Narayanan & Shmatikov's paper (NS) on any rating data, claim by claim.

Netflix's data are no longer available, and the paper's figures are pictures; its *text* gives a
list of claims, each with a criterion here. They are measured on the given data: the same
knowledge, the same attack, the same kind of figure, over several runs with different targets.
Claims about Netflix are measured, not judged; general claims are judged. ::

    configurations  as printed, as read, ours: the points at which they differ
    plan            which knowledge each line of Figs 4-6 and 8-12 stands for; the paper's numbers
    bench           everything that is measured, once each, as parts
      scorer          the score to the letter, under any reading
      samples         data of which one property was changed; a real tenth of the people
      extra           what the number of ratings and the first day take away
    under           attacks under a way; means, ratios and differences of the same people
    claims          every claim with its criterion
      of_data         what is measured for it: data, theorems, who matches m items
      of_attacks      the same: attacks
    figures, shown  figures of attacks; of the data themselves
    grids, worked   tables; what can be worked by hand
    study           all of it, as a `Reproduction`

Along a line the number of mistakes is fixed and the number of known cells rises. A figure that the
data do not support (no dates; no user with eight ratings outside the 500 most rated items) is left
out, with the reason.
"""
