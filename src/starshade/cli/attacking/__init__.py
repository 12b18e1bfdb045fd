"""``starshade attack``: by what it knows of people, and by public ratings."""
