"""Labs as files: a built lab in one file, checked when it is read."""
