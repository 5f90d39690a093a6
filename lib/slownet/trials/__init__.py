"""Field trials: a real service measured, links stated against measured, runs compared."""
