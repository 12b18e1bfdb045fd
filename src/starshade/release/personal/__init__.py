"""Personal attributes: how finely they are told at most, and which are as good as a name."""
