"""A release as a folder, written and read whole; its key file is kept elsewhere."""
