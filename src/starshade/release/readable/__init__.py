"""A release as rows that people and other libraries can read; the exact layout stays beside."""
