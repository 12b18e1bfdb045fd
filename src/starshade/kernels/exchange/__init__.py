"""k-exchange: records change groups while that lessens what groups cost."""
