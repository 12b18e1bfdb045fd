"""What leaves the house: cells with multiplicity, manifest, atomic store, independent verifier."""
