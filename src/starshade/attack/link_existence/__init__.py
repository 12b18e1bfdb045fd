"""Link existence: did the people behind a released edge rate the item? (PA §6)."""
