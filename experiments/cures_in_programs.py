"""What helps where no cache can: a program that asks less often, or writes in one piece."""

from contextlib import nullcontext

from slownet.claim import bound, round_trips_between
from slownet.experiment import experiment
from slownet.programs.pipeline import BATCH
from slownet.services.rows_and_messages import RowsAndMessages
from slownet.tools.exchange import DELAYED_ACK_LEAST_MS, DELAYED_ACK_MOST_MS
from slownet.topologies import ClientWebDb

TIME, ROWS = "operation_ms", {"none": 200, "batches": 3000, "pipelined": 3000}
# The first of each is healthy, a row with each cure as well; then comes the harm, and what follows has it with a cure.
ROW = [*(("none", "0ms", cure) for cure in ROWS), *(("far database", "10ms", cure) for cure in ROWS)]
PATTERNS = {"none": "write-write-read", "TCP_NODELAY": "nodelay", "TCP_CORK": "cork"}
MESSAGE = [("none", "0ms", "none"), *(("two small writes", "0ms", cure) for cure in PATTERNS)]


def cell(operation, harm, rtt, cure):
    return {"operation": operation, "harm": harm, "rtt": rtt, "cure": cure}


CELLS = [*(cell("row", *each) for each in ROW), *(cell("message", *each) for each in MESSAGE)]


# One block: fewer rows are fewer lots of a hundred, and what the first of them costs weighs more.
@experiment(topology=ClientWebDb, service=RowsAndMessages, cells=CELLS, tdf="inf", blocks=1)
def cures_in_programs(net, programs, operation, harm, rtt, cure):
    """What brings back a program whose rows have a far database, or whose messages leave in two small writes?"""
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
    # Against the same cure nearby. A lot of rows waits for one round trip more: of its ten milliseconds 2 % are 0.2 ms, room
    # for what the programs do with a hundred rows where the CPU is free.
    round_trips_between(
        TIME, row("far database", "batches"), of=row("none", "batches"), expected=1 / BATCH,
        within=0.02,
        because=f"{BATCH} rows are one INSERT, which waits for one answer",
    ),
    # A hundred statements are read and answered one by one, and what is done meanwhile hides behind the waiting: all of the
    # time nearby may. So no more than the whole round trip longer, and no shorter than that.
    round_trips_between(
        TIME, row("far database", "pipelined"), of=row("none", "pipelined"), at_most=1.02 / BATCH,
        because=f"{BATCH} INSERTs leave together and their answers come together",
    ),
    bound(TIME, row("far database", "pipelined"), at_least=10 / BATCH, because=f"{BATCH} INSERTs wait for one answer at least"),
    bound(
        "stall_ms", cell("message", "two small writes", "0ms", "none"),
        at_least=DELAYED_ACK_LEAST_MS, at_most=DELAYED_ACK_MOST_MS,
        because="Nagle's algorithm holds the second write until the peer's delayed ACK, HZ / 25 and up to a tick",
    ),
    *(
        bound(TIME, cell("message", "two small writes", "0ms", cure), at_most=1, because=because)
        for cure, because in (
            ("TCP_NODELAY", "the second write leaves at once"),
            ("TCP_CORK", "the first write waits for the second: one segment"),
        )
    ),
)  # fmt: skip
