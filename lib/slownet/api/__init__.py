"""slownet in Python programs and notebooks: `slownet.run`, `slownet.load`, `slownet.compare`, and what they return."""

from slownet.api.calls import compare, load, run
from slownet.api.plot import Plot
from slownet.api.presented import Compared, Run

__all__ = ["Compared", "Plot", "Run", "compare", "load", "run"]
