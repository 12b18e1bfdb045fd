"""The claims of NS with their criteria, and what is measured for each."""
