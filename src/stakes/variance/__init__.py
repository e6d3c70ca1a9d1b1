"""How uncertain a mean is: exact sums of contributions, of rows that depend on each other, and of rules compared."""
