"""Runs all tests that Hypothesis feeds for a given time, with another seed each round; ends with 1 if one of them fails.

What fails is kept in .hypothesis, so that the next round, and pytest with HYPOTHESIS_PROFILE=fuzz, begin with it.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=60.0)
    options.add_argument("paths", nargs="*", default=["tests/unit"])
    given = options.parse_args()
    end = time.monotonic() + 60 * given.minutes
    failed = rounds = 0
    while not rounds or time.monotonic() < end:
        rounds += 1
        seed = secrets.randbits(32)
        print(f"round {rounds}, seed {seed}, {max(0, (end - time.monotonic()) / 60):.0f} minutes left", flush=True)
        words = [sys.executable, "-m", "pytest", "-q", "-m", "hypothesis", "-n", "2", f"--hypothesis-seed={seed}", *given.paths]
        failed += subprocess.run(words, env={**os.environ, "HYPOTHESIS_PROFILE": "fuzz"}, check=False).returncode != 0
    print(f"{rounds} rounds, {failed} of them failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
