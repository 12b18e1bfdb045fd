"""Forms, and the job settings that they produce."""
