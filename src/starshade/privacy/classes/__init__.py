"""Classes of equal records: their sizes, and how a personal attribute is spread over them."""
