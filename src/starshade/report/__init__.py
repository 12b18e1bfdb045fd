"""Results made visible: charts and folders for people.

What was measured comes up from `audit/` as plain data with intervals; here it becomes a Vega-Lite
specification (a dict with the data inside, which any Vega viewer opens), a picture (SVG, through
the optional extra ``starshade[report]``) and a page of text. Nothing is computed here: a figure
in a report is the figure in the result. ::

    audit.reproduction ── charts ──> Vega-Lite, SVG
                       ── reproduction ──> a folder for one paper: JSON, CSV, the charts, README.md
                       ── panels, site, templates/ ──> pages for all papers
    audit.compare      ── folder ──> the same for methods side by side
    audit.dossier ── picture, stacked, dossier_charts, page, templates/ ──> one HTML file, two
                     editions

Every chart says on how much data it rests, shows 95 % intervals, and sets the paper's numbers
apart from ours by shape and colour; colours are told apart by the colour-blind too, and dashes
repeat what they say.

The report on a release is one page without scripts, whose style and pictures are in it. What
stands there is what `Dossier.public` or `Dossier.internal` tells, and nothing else: the templates
see no result and no ratings. Its pictures are drawn once, in colours that the page's style knows by
name, so that one SVG is right in light, in dark and on paper.
"""
