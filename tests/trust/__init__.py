"""`make trust`: tests whether verdicts, intervals and T0 hold under other load. Takes hours; not part of `make test`."""
