"""Statistics of measurements: summaries with intervals, comparisons, percentiles, parts, series.

Pure functions on numbers, without I/O. numpy and scipy are imported when a function needs them: this package is
imported inside the lab too, where an import costs time.
"""

from slownet.stats.batch import correlated_error
from slownet.stats.compare import Test, difference, differs, equivalent, further, holm, ratio, welch
from slownet.stats.count import counted, poisson
from slownet.stats.proportion import proportion
from slownet.stats.quantile import median, needed, percentile, printed, quantile
from slownet.stats.resample import bootstrap, bootstrap_ratio
from slownet.stats.scatter import Scatter
from slownet.stats.series import outliers, warm_up
from slownet.stats.summary import CONFIDENCE, Summary, from_error, from_moments, mean_and_sd, summarize, t_quantile

__all__ = [
    "CONFIDENCE",
    "Scatter",
    "Summary",
    "Test",
    "bootstrap",
    "bootstrap_ratio",
    "correlated_error",
    "counted",
    "difference",
    "differs",
    "equivalent",
    "from_error",
    "from_moments",
    "further",
    "holm",
    "mean_and_sd",
    "median",
    "needed",
    "outliers",
    "percentile",
    "poisson",
    "printed",
    "proportion",
    "quantile",
    "ratio",
    "summarize",
    "t_quantile",
    "warm_up",
    "welch",
]
