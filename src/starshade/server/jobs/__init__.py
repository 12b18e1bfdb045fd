"""Jobs: the database, the work folder, the engine."""
