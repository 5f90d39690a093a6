"""slownet: what a slow network does to a system, measured before the field trial."""

from pathlib import Path

__version__ = "0.1.0"

# In a checkout `topologies` and `experiments` stand at the top level, in a wheel they are inside this package;
# both are imported as slownet.topologies and slownet.experiments.
_checkout = Path(__file__).resolve().parents[2]
if (_checkout / "topologies" / "__init__.py").is_file() and (_checkout / "setup.py").is_file():
    __path__.append(str(_checkout))
