"""The files of a run, and the data read back from them."""
