"""The three questions that an audit answers, each by the strongest that was tried."""
