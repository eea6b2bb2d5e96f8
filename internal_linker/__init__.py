"""Internal Linker: the five best internal links for each page of a site, with the reason for each."""

__version__ = "0.1.0"
