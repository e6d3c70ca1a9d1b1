"""Files and data frames are converted to clean arrays and score tables here; no other room uses a data engine.

Two ways in: :func:`group_scores` needs one group-by and serves one classifier of any size,
:func:`frame_columns` and :func:`read_predictions` keep the rows, as comparisons of models need them.
"""

from stakes.base.formulas import Onnx, Sql, onnx_column, sql_column
from stakes.outputs.files import any_size
from stakes.outputs.serialization import DataError
from stakes.tables._columnar_files import in_memory, scan_parquet
from stakes.tables._columnar_files import read_columns as read_columns
from stakes.tables._columnar_files import write_columns as write_columns
from stakes.tables._columns import EngineError
from stakes.tables._engines import (
    NO_CLOSED_FORM,
    group_scores,
    group_scores_by,
    loss_expression,
    sum_clusters,
    sum_pairs,
)
from stakes.tables._engines import expressible as expressible
from stakes.tables._engines import why_clusters_need_rows as why_clusters_need_rows
from stakes.tables._losses import sum_losses as sum_losses
from stakes.tables._predictions import INCOMPLETE_HINT as INCOMPLETE_HINT
from stakes.tables._predictions import ClassPredictions as ClassPredictions
from stakes.tables._predictions import Copied as Copied
from stakes.tables._predictions import NewColumns as NewColumns
from stakes.tables._predictions import Predictions, ScoredFile, frame_columns, read_predictions, read_scores
from stakes.tables._predictions import complete_rows as complete_rows
from stakes.tables._predictions import copy_with_columns as copy_with_columns
from stakes.tables._predictions import model_columns as model_columns
from stakes.tables._predictions import read_class_predictions as read_class_predictions
from stakes.tables._streams import as_lazy as as_lazy
from stakes.tables._streams import check_first_rows as check_first_rows
from stakes.tables._streams import count_rows as count_rows
from stakes.tables._streams import priced_rows as priced_rows
from stakes.tables._streams import stream_amounts as stream_amounts
from stakes.tables._streams import stream_rows as stream_rows
from stakes.tables._streams import streams as streams
from stakes.tables._text_files import ENDINGS, file_digest
from stakes.tables._text_files import Content as Content
from stakes.tables._text_files import is_pipe as is_pipe

__all__ = [
    "ENDINGS",
    "NO_CLOSED_FORM",
    "DataError",
    "EngineError",
    "Onnx",
    "Predictions",
    "ScoredFile",
    "Sql",
    "any_size",
    "file_digest",
    "frame_columns",
    "group_scores",
    "group_scores_by",
    "in_memory",
    "loss_expression",
    "onnx_column",
    "read_predictions",
    "read_scores",
    "scan_parquet",
    "sql_column",
    "sum_clusters",
    "sum_pairs",
]


def __dir__() -> list[str]:
    return __all__
