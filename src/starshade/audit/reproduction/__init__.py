"""The papers' tables and figures on any data, and their sentences held against them."""
