"""Files and data frames become clean arrays and score tables here; no other room knows a data engine.

Two ways in: :func:`group_scores` needs one group-by and serves one classifier of any size,
:func:`frame_columns` and :func:`read_predictions` keep the rows, as comparisons of models need them.
"""

from stakes.tables._content import file_digest
from stakes.tables._errors import DataError
from stakes.tables._files import read_predictions
from stakes.tables._groups import group_scores
from stakes.tables._parquet import read_columns, write_columns
from stakes.tables._rows import Predictions, frame_columns
from stakes.tables._scored import Copied, NewColumns, ScoredFile, copy_with_columns, read_scores
from stakes.tables._write import ENDINGS

__all__ = [
    "ENDINGS",
    "Copied",
    "DataError",
    "NewColumns",
    "Predictions",
    "ScoredFile",
    "copy_with_columns",
    "file_digest",
    "frame_columns",
    "group_scores",
    "read_columns",
    "read_predictions",
    "read_scores",
    "write_columns",
]
