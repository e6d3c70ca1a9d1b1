"""The score table, the regret where it meets a cost distribution, recalibration and the checks of arguments."""
