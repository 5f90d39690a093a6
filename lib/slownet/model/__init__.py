"""What every other room may use: units, errors, files of users, extensions."""
