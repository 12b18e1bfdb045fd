"""What an adversary can do with the data."""
