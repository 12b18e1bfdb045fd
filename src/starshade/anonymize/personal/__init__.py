"""Personal attributes that are released: what may be asked for, and how they are generalized."""
