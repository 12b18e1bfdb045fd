"""Narayanan & Shmatikov's case study (NS §5) on any rating data, beside what they found.

Netflix's data are no longer to be had, and the paper's figures are pictures; what its *text*
says in numbers stands in `plan`, each with its place. Ours are run anew on the data at hand:
the same knowledge, the same attack, the same kind of figure. They are not expected to agree:
Netflix had 480,189 people and hides a target among 500 times as many as MovieLens 100K does;
but what the paper concludes can be held against them, line by line. ::

    plan      which knowledge each line of Figs 4-6 and 8-12 stands for; the paper's numbers
    figures   Figs 4-6 and 8-12 by attacks, each setting run once; Figs 1-3 and 7, the table of §5
    sentences what the text says, ours beside it; does success rise with what is known?
    study     all of it, as a `Reproduction`

A line keeps the number of mistakes and lets the number of known cells rise, so that it can be
asked whether it rises. A figure that the data cannot give (no dates; nobody who rated eight items
outside the 500 most rated) is left out, with the reason; nothing is guessed.
"""
