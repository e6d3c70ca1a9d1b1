"""The value of more data: the expected loss of choosing now, the savings by further rows, and sample sizes."""

from stakes.information._value import PRIORS as PRIORS
from stakes.information._value import QUESTIONS as QUESTIONS  # the choices of ``stakes plan``
from stakes.information._value import Plan, ValueOfInformation, rows_needed, value_of_information
from stakes.information._value import StudyOptions as StudyOptions
from stakes.information._value import check_asked as check_asked
from stakes.information._value import check_study as check_study
from stakes.information._value import value_of as value_of

__all__ = ["Plan", "ValueOfInformation", "rows_needed", "value_of_information"]


def __dir__() -> list[str]:
    return __all__
