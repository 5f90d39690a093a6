"""Cures where a cache cannot help: programs that send fewer requests, or write each one in one piece."""

from contextlib import nullcontext

from slownet import ClientWebDb, bound, experiment, round_trips_between
from slownet.reproductions.exchange import DELAYED_ACK_LEAST_MS, DELAYED_ACK_MOST_MS
from slownet.reproductions.rows_and_messages import BATCH, RowsAndMessages

TIME, ROWS = "operation_ms", {"none": 200, "batches": 3000, "pipelined": 3000}
# Cells without the harm come first (for rows also with each cure), then the harm without a cure, then with each cure.
ROW = [*(("none", "0ms", cure) for cure in ROWS), *(("far database", "10ms", cure) for cure in ROWS)]
PATTERNS = {"none": "write-write-read", "TCP_NODELAY": "nodelay", "TCP_CORK": "cork"}
MESSAGE = [("none", "0ms", "none"), *(("two small writes", "0ms", cure) for cure in PATTERNS)]


def cell(operation, harm, rtt, cure):
    return {"operation": operation, "harm": harm, "rtt": rtt, "cure": cure}


CELLS = [*(cell("row", *each) for each in ROW), *(cell("message", *each) for each in MESSAGE)]


# One block: with fewer rows, the more expensive first batch of a hundred would weigh more.
@experiment(topology=ClientWebDb, service=RowsAndMessages, cells=CELLS, tdf="inf", blocks=1)
def cures_in_programs(net, programs, operation, harm, rtt, cure):
    """Which cures help a program that writes rows to a far database, or sends messages in two small writes?"""
    if operation == "message":
        return programs.message("one-write" if harm == "none" else PATTERNS[cure], count=100)
    with net.link("db", "switch").set(rtt=rtt) if harm == "far database" else nullcontext():
        return programs.row("row-by-row" if cure == "none" else cure, ROWS[cure])


def row(harm, cure):
    return cell("row", harm, "10ms" if harm == "far database" else "0ms", cure)


cures_in_programs.claims(
    round_trips_between(
        TIME, row("far database", "none"), of=row("none", "none"), expected=1, within=0.01,
        because="each row waits for the answer to its INSERT",
    ),
    # Compared with the same cure without the harm. A batch takes one more round trip, 10 ms; 2 % of that, 0.2 ms, allows for
    # the programs' work on a hundred rows while the CPU is free.
    round_trips_between(
        TIME, row("far database", "batches"), of=row("none", "batches"), expected=1 / BATCH,
        within=0.02,
        because=f"{BATCH} rows are one INSERT, which waits for one answer",
    ),
    # A hundred statements are read and answered one by one. Their work, up to all of the time without delay, may overlap with
    # waiting. So the time grows by at most a round trip, and is at least a round trip.
    round_trips_between(
        TIME, row("far database", "pipelined"), of=row("none", "pipelined"), at_most=1.02 / BATCH,
        because=f"{BATCH} INSERTs are sent together, and their answers arrive together",
    ),
    bound(TIME, row("far database", "pipelined"), at_least=10 / BATCH, because=f"{BATCH} INSERTs wait for at least one answer"),
    bound(
        "stall_ms", cell("message", "two small writes", "0ms", "none"),
        at_least=DELAYED_ACK_LEAST_MS, at_most=DELAYED_ACK_MOST_MS,
        because="Nagle's algorithm holds the second write until the peer's delayed ACK, after HZ / 25 plus up to a tick",
    ),
    *(
        bound(TIME, cell("message", "two small writes", "0ms", cure), at_most=1, because=because)
        for cure, because in (
            ("TCP_NODELAY", "the second write is sent at once"),
            ("TCP_CORK", "the first write waits for the second, and both are one segment"),
        )
    ),
)  # fmt: skip


@cures_in_programs.answer
def answer(run):
    rows = [run.at(row("far database", cure)).amount(TIME) for cure in ROWS]
    stalled, *cured = (run.at(cell("message", "two small writes", "0ms", cure)) for cure in PATTERNS)
    most = max(cured, key=lambda each: each.summary(TIME).mean)
    return (
        f"With the database 10 ms away a row takes {rows[0]} one by one, {rows[1]} in batches of {BATCH}, and {rows[2]} in a "
        f"pipeline. A message in two small writes takes {stalled.amount(TIME)}, and at most {most.amount(TIME)} with "
        "TCP_NODELAY or TCP_CORK."
    )
