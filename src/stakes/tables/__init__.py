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
    group_scores,
    group_scores_by,
    loss_expression,
    sum_clusters,
    sum_pairs,
    why_clusters_need_rows,
)
from stakes.tables._predictions import (
    ClassPredictions,
    Predictions,
    complete_rows,
    frame_columns,
    model_columns,
    read_class_predictions,
    read_predictions,
)
from stakes.tables._scored import ENDINGS, Copied, NewColumns, ScoredFile, copy_with_columns, read_scores
from stakes.tables._text_files import Content as Content
from stakes.tables._text_files import file_digest
from stakes.tables._text_files import is_pipe as is_pipe

__all__ = [
    "ENDINGS",
    "NO_CLOSED_FORM",
    "ClassPredictions",
    "Copied",
    "DataError",
    "EngineError",
    "NewColumns",
    "Onnx",
    "Predictions",
    "ScoredFile",
    "Sql",
    "any_size",
    "complete_rows",
    "copy_with_columns",
    "expressible",
    "file_digest",
    "frame_columns",
    "group_scores",
    "group_scores_by",
    "in_memory",
    "loss_expression",
    "model_columns",
    "onnx_column",
    "read_class_predictions",
    "read_columns",
    "read_predictions",
    "read_scores",
    "scan_parquet",
    "sql_column",
    "sum_clusters",
    "sum_pairs",
    "why_clusters_need_rows",
    "write_columns",
]
