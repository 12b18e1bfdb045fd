"""A release beside the ratings that it was made of: whether they are, and which row is whose."""
