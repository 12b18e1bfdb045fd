"""Riyana & Natwichai's study (KL) on any ratings: Figs 10-16, every claim, every worked table.

The paper's figures are pictures; its text describes the curves. So every figure is computed on the
given data, and each claim gets a verdict. starshade's own method, k-exchange, is included. ::

    configurations  as-printed, as-read, ours
    lines           a method with a hierarchy; readings ──▶ naive: both algorithms as printed
    bench           releases, answers, work: each measured once, over seeds and over users
       changed      interventions: another reading, or one property of the data changed alone
    claims          definitions, data, proof; experiments: Figs 10-16; statistics: what decides
    figures, grid   curves; which reading gives which figure, what each algorithm does
    worked          Tables 1-6 and the eight queries; theorem: the reduction on small instances
    study           all of it, as a `GeneralizationStudy`

Random choices matter: every experiment has several runs with their own seeds, and a point is the
mean with the least and the greatest of the runs. Claims on speed are judged by cells touched;
seconds of both algorithms in the same kind of code are reported as well.
"""
