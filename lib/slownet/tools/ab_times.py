"""The times of ``ab``'s requests, from the files that its options ``-e`` (csv) and ``-g`` (tsv) write."""

from __future__ import annotations

from itertools import groupby

EXACT = 100
"""Up to this number of requests, ``ab -e`` writes the time of each: its 100 percentiles are then the requests themselves."""


def in_order(csv: str, tsv: str, complete: int) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return the requests' times in ms and how many began in each second, see `slownet.tools.ab.Ab`.

    Parameters
    ----------
    csv, tsv : str
        The files; empty if there is none.
    complete : int
        The number of requests.

    Raises
    ------
    ValueError, IndexError, KeyError
        A file is not as expected, or the two differ.
    """
    by_rank = _by_rank(csv, complete) if csv and complete <= EXACT else []
    if not tsv:
        return tuple(by_rank), ()
    rows = [(int(row[1]), float(row[4])) for row in (line.split("\t") for line in tsv.splitlines()[1:])]
    # ab sorts the requests by time once and writes both files in that order, so row and rank agree. Requests with equal times
    # may be swapped, which makes no difference to the pairs.
    if by_rank and not all(abs(exact - whole) <= 0.5005 for exact, (_, whole) in zip(by_rank, rows, strict=True)):
        raise ValueError("-e and -g differ")
    times = by_rank or [whole for _, whole in rows]
    began = sorted(zip((second for second, _ in rows), times, strict=True))
    return tuple(time for _, time in began), tuple(len(list(each)) for _, each in groupby(second for second, _ in began))


def _by_rank(csv: str, complete: int) -> list[float]:
    """Return the times of up to 100 requests to the microsecond, shortest first.

    ``ab`` writes the time of request round(complete * percent / 100) for each percent. Past the last request it reads
    whatever is in memory there, so those rows are ignored.
    """
    rows = (line.split(",") for line in csv.splitlines()[1:])
    by_rank = {int(0.5 + complete * int(percent) / 100): float(ms) for percent, ms in rows}
    return [by_rank[rank] for rank in range(complete)]
