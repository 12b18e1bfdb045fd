"""Who is near whom: trees over records, and the paper's two ways beside them (SR §5.1, §7.2)."""
