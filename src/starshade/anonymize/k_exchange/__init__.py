"""k-exchange: groups that lose least range, by exchanges of records."""
