"""Riyana & Natwichai's study (KL) on any ratings: Figs 10-16, and whether what they say holds.

The paper's figures are pictures; its text says how the curves run and lie. ::

    configurations   as printed, as read, ours
    readings         the figures' lines, and what else the text allows
    bench            a release measured, each once; cells that plain algorithms compare
    figures          Figs 10-16, and 16a, of work in place of time
    grids            which reading gives Fig. 12, and which Fig. 16
    claims           what would count as true; judged by `measures`, through `looks`
    worked, theorem  the paper's tables by hand, its proof on small tables
    study            all of it, as a `GeneralizationStudy`

Where a method draws, the draw matters: everything is run several times with seeds of its own.
Claims on time are judged by cells compared; seconds stand beside.
"""
