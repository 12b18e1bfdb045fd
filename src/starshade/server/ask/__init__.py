"""From a filled form to what a job is asked."""
