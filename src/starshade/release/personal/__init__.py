"""Personal attributes: how finely they are released at most, and which identify directly."""
