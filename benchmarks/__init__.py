"""Races against the clock and against peers; `python -m benchmarks --list` names them. See README.md."""
