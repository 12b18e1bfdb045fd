"""Methods side by side on any data: what each loses, gives away and takes."""
