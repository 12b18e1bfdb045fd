"""Jobs and what is kept of them: the database, its folder, who runs them."""
