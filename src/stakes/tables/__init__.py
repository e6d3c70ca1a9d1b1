"""Files and data frames are converted to clean arrays and score tables here; no other room uses a data engine.

Two ways in: :func:`group_scores` needs one group-by and serves one classifier of any size,
:func:`frame_columns` and :func:`read_predictions` keep the rows, as comparisons of models need them.
"""

from stakes.base.formulas import Onnx, Sql, onnx_column, sql_column
from stakes.outputs.files import any_size
from stakes.outputs.serialization import DataError
from stakes.tables._columnar_files import in_memory, read_columns, scan_parquet, write_columns
from stakes.tables._columns import EngineError
from stakes.tables._engines import (
    NO_CLOSED_FORM,
    expressible,
    loss_expression,
    other_label,
    sum_clusters,
    sum_pairs,
    why_clusters_need_rows,
)
from stakes.tables._losses import sum_losses
from stakes.tables._predictions import (
    INCOMPLETE_HINT,
    ClassPredictions,
    Copied,
    NewColumns,
    Predictions,
    ScoredFile,
    complete_rows,
    copy_with_columns,
    frame_columns,
    model_columns,
    read_class_predictions,
    read_predictions,
    read_scores,
)
from stakes.tables._score_columns import CountedRows, group_scores, group_scores_by, in_cells
from stakes.tables._streams import (
    as_lazy,
    check_first_rows,
    count_rows,
    priced_rows,
    stream_amounts,
    stream_rows,
    streams,
)
from stakes.tables._text_files import ENDINGS, Content, file_digest, is_pipe

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
