"""A release as rows for people and other libraries, next to the exact layout."""
