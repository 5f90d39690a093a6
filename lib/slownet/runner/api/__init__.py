"""slownet in Python programs and notebooks: `slownet.run`, `slownet.load`, `slownet.compare`, and what they return."""

from slownet.runner.api.calls import compare, load, run
from slownet.runner.api.plot import Plot
from slownet.runner.api.presented import Compared, Run

__all__ = ["Compared", "Plot", "Run", "compare", "load", "run"]
