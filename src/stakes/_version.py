"""The version of the package: the build and the running library read it here."""

__version__ = "0.1.0"
