"""k-Member and Mondrian: clusters that grow, parts that are halved (SPEC §3.3)."""
