"""`make trust`: do verdicts, intervals and T0 hold whatever else the machine does? Hours; no part of `make test`."""
