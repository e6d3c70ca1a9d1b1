"""The score table, the regret where it meets a cost distribution, and the options of an evaluation."""
