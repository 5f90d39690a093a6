"""Statistics of measurements: summaries with intervals, comparisons, percentiles, proportions, series.

Pure functions on numbers, without I/O. numpy and scipy are imported when a function needs them: this package is
imported inside the lab too, where an import costs time.
"""

from slownet.theory.stats.batch import correlated_error, of_groups
from slownet.theory.stats.count import counted, poisson, proportion
from slownet.theory.stats.dispersion import LackOfFit, Scatter
from slownet.theory.stats.equivalence import Test, differs, equivalent, exceeds, holm
from slownet.theory.stats.estimate import Summary, difference, from_error, ratio, welch
from slownet.theory.stats.moments import from_moments, mean_and_sd, summarize
from slownet.theory.stats.quantile import median, needed, percentile, printed, quantile
from slownet.theory.stats.settling import outliers, warm_up
from slownet.theory.stats.student import CONFIDENCE, DECIDING, t_quantile, z_quantile

__all__ = [
    "CONFIDENCE",
    "DECIDING",
    "LackOfFit",
    "Scatter",
    "Summary",
    "Test",
    "correlated_error",
    "counted",
    "difference",
    "differs",
    "equivalent",
    "exceeds",
    "from_error",
    "from_moments",
    "holm",
    "mean_and_sd",
    "median",
    "needed",
    "of_groups",
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
    "z_quantile",
]
