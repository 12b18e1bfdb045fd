"""The tracker attack on a query interface (KL §1.1; definitions, "tracker")."""
