"""How alone records are, and how few facts suffice (NS §3, §4)."""
