"""Narayanan & Shmatikov's paper (NS) on any rating data, claim by claim.

Netflix's data are no longer to be had, and the paper's figures are pictures; what its *text* says
is a list of claims, each with what would count as true. Ours are measured on the data at hand:
the same knowledge, the same attack, the same kind of figure, over several runs with people of
their own. What speaks of Netflix is measured and not judged; what is general is judged. ::

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

A line keeps the number of mistakes and lets the number of known cells rise, so that it can be
asked whether it rises. A figure that the data cannot give (no dates; nobody who rated eight items
outside the 500 most rated) is left out, with the reason; nothing is guessed.
"""
