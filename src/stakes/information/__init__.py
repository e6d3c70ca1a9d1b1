"""The value of more data: the expected loss of choosing now, the savings by further rows, and sample sizes."""

from stakes.information._value import (
    PRIORS,
    QUESTIONS,  # the choices of ``stakes plan``
    Plan,
    StudyOptions,
    ValueOfInformation,
    check_asked,
    check_study,
    one_threshold,
    rows_needed,
    unit_of,
    value_of,
    value_of_information,
)

__all__ = ["Plan", "ValueOfInformation", "rows_needed", "value_of_information"]


def __dir__() -> list[str]:
    return __all__
