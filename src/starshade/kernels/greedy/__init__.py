"""k-Member and Mondrian: clusters that grow, parts that are halved."""
