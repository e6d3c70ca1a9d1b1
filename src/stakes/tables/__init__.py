"""Files and data frames become clean arrays and score tables here; no other room knows a data engine.

Two ways in: :func:`group_scores` needs one group-by and serves one classifier of any size,
:func:`frame_columns` and :func:`read_predictions` keep the rows, as comparisons of models need them.
"""

from stakes.core.expressions import Sql, sql_column
from stakes.core.onnx import Onnx, onnx_column
from stakes.shown.sizes import any_size
from stakes.tables._classes import ClassPredictions, read_class_predictions
from stakes.tables._clusters import sum_clusters, why_clusters_need_rows
from stakes.tables._collect import EngineError
from stakes.tables._content import file_digest
from stakes.tables._errors import DataError
from stakes.tables._files import read_predictions
from stakes.tables._groups import group_scores, group_scores_by
from stakes.tables._losses import NO_CLOSED_FORM, expressible, loss_expression
from stakes.tables._pairs import sum_pairs
from stakes.tables._parquet import read_columns, write_columns
from stakes.tables._rows import Predictions, complete_rows, frame_columns, model_columns
from stakes.tables._scan import in_memory, scan_parquet
from stakes.tables._scored import Copied, NewColumns, ScoredFile, copy_with_columns, read_scores
from stakes.tables._write import ENDINGS

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
