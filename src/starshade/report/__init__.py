"""Charts, folders and reports of results.

Results come from `audit/` as plain data with intervals; here they become a Vega-Lite
specification (a dict with the data inside, which any Vega viewer opens), a picture (SVG, through
the optional extra ``starshade[report]``) and a page of text. Nothing is computed here: a figure
in a report is the figure in the result. ::

    audit.reproduction ── charts ──> Vega-Lite, SVG
                       ── reproduction ──> a folder for one paper: JSON, CSV, the charts, README.md
                       ── panels, site, templates/ ──> pages for all papers
    audit.compare      ── folder ──> the same for methods side by side
    audit.dossier ── picture, stacked, dossier_charts, page, templates/ ──> one HTML file, internal
                     or public

Every chart states its data size, shows 95 % intervals, and distinguishes the paper's numbers from
ours by shape and colour; colours suit colour-blind readers, and dashes repeat them.

`people` writes the users at risk to a private file, and `pdf` prints a report.

The report on a release is one page without scripts, with its style and pictures inside. It shows
the content of `Dossier.public` or `Dossier.internal` and nothing else: the templates see no result
and no ratings. Pictures are drawn once, in named colours of the page's style, so that one SVG suits
light, dark and paper.
"""
