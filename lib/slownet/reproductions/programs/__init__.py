"""Small programs of single experiments: `python -m slownet.reproductions.programs.NAME`; see `slownet.tools.programs`."""
