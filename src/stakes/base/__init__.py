"""What every room stands on: checked arguments, outcomes, exact counts and fits, formulas, estimators."""
