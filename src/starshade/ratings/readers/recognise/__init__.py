"""What kind of input it is: opened, looked at, its columns recognised."""
