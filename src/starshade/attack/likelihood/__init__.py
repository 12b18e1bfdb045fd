"""The likelihood attack: the likelihood of each record given the known ratings."""
