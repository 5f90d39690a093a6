"""Hypothesis files: questions and predictions in TOML."""
