"""Records within ε of each other (Sun & Sun 2013): balls, their graph, the verdict."""
