"""The common ground of all rooms: units, errors, files of users, extensions."""
