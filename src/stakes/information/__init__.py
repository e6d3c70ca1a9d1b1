"""What more data would be worth: the expected loss of choosing now, and how much of it further rows would save."""

from stakes.information._value import ValueOfInformation, value_of_information

__all__ = ["ValueOfInformation", "value_of_information"]
