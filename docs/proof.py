"""Keeps what a run of `slownet reproduce --all` came to, which README says: `make proof`.

    python docs/proof.py FOLDER

Writes docs/proof.json from the newest reproduction in FOLDER, and README's sentence anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slownet.model.units import show_duration
from slownet.reproductions.articles import ARTICLES

KEPT = Path(__file__).with_name("proof.json")
README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- proof -->\n", "<!-- end of proof -->"


def of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept of a reproduction.json."""
    tallies = record["experiments"]
    articles = {name for names in ARTICLES.values() for name in names}
    return {
        "run": Path(record["directory"]).name,
        "experiments": len(tallies),
        "claims": sum(each["claims"] for each in tallies),
        "supported": sum(each["supported"] for each in tallies),
        "claims_of_articles": sum(each["claims"] for each in tallies if each["experiment"] in articles),
        **{name: record[name] for name in ("real_s", "cpu_s", "wall_s", "processors")},
    }


def sentence(proof: Mapping[str, Any]) -> str:
    """Say it.

    Examples
    --------
    >>> print(sentence({"experiments": 28, "claims": 259, "supported": 258, "claims_of_articles": 95, "real_s": 39244.0,
    ...                 "cpu_s": 677.0}))
    The proof: `slownet reproduce --all` supports 258 of 259 claims of 28 experiments, 95 of them about five articles: 10.9 h on
    a real clock, measured in 11.3 min of CPU time.
    """
    real, cpu = (show_duration(float(f"{proof[name]:.3g}"), 3) for name in ("real_s", "cpu_s"))
    return (
        f"The proof: `slownet reproduce --all` supports {proof['supported']} of {proof['claims']} claims of "
        f"{proof['experiments']} experiments, {proof['claims_of_articles']} of them about five articles: {real} on\n"
        f"a real clock, measured in {cpu} of CPU time."
    )


def main(folder: str) -> None:
    """Write the record and the sentence."""
    newest = max(Path(folder).glob("*-reproduce/reproduction.json"))
    proof = of(json.loads(newest.read_text("utf-8")))
    KEPT.write_text(json.dumps(proof, indent=2) + "\n", "utf-8")
    before, begin, rest = README.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        sys.exit(f"proof: {README} has no place for the sentence: write {BEGIN!r} and {END!r} where it belongs")
    README.write_text(f"{before}{begin}{sentence(proof)}\n{end}{after}", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
