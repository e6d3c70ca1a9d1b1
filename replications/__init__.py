"""Published tables and figures, reproduced."""
