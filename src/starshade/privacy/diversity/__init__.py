"""(b, l)-diversity of a release (Chang et al. 2009, Defs 5.2, 5.3; definitions, "diversity")."""
