"""The papers' tables and figures on any data, and verdicts on their claims."""
