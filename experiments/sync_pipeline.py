"""The article's pipeline, 4 h in two rooms and 15 min in one: a broker, a consumer, a database."""

from slownet import published
from slownet.claim import predicted, times
from slownet.experiment import experiment
from slownet.programs.pipeline import BATCH
from slownet.services.pipeline import BrokerAndDatabase
from slownet.topologies import BrokerWorkerDatabase

ARTICLE = f"the article: {published.pipeline_ratio():g}"
ROWS = {"row-by-row": 200, "batches": 3000, "pipelined": 3000}
NEAR_MS, FAR_MS = 0.3, 10
ROOMS = {"one": None, "db-far": "db", "broker-far": "broker"}  # which host stands in the second room
# Round trips a row, to the database and to the broker: read, INSERT with its own commit, acknowledge.
ROUND_TRIPS = {"row-by-row": (1, 2), "batches": (1 / BATCH, 2 / BATCH), "pipelined": (1 / BATCH, 1 / BATCH)}

SUM = "one room's time + k round trips of 10 ms"
# Who waits for nothing between a hundred rows works while answers travel: half of the sum where the two are alike.
WITHIN = {"row-by-row": (0.05, SUM), "batches": (0.05, SUM), "pipelined": (0.5, f"{SUM}, less what overlaps")}


# One block: a copy's first lot of a hundred rows is left out, and of fewer rows it would be a larger part.
@experiment(
    topology=BrokerWorkerDatabase,
    service=BrokerAndDatabase,
    vary={"way": list(ROUND_TRIPS), "room": list(ROOMS)},
    published=published.sync_pipeline(),
    blocks=1,
)
def sync_pipeline(net, pipeline, way, room):
    """How much longer does a copy from a broker into a database take when one of the two is in another room?"""
    with net.link("worker1", "switch").set(rtt=f"{NEAR_MS}ms"):
        if ROOMS[room] is None:
            return pipeline.copy(way, ROWS[way])
        with net.link(ROOMS[room], "switch").set(rtt=f"{FAR_MS}ms"):
            return pipeline.copy(way, ROWS[way])


def law_says(way, room):
    """The time of a row in one room, and its round trips to the other room."""
    far = ROUND_TRIPS[way][0] if room == "db-far" else ROUND_TRIPS[way][1]
    return lambda run: run.at({"way": way, "room": "one"}).summary("steady_row_ms") + far * FAR_MS


sync_pipeline.claims(
    *(
        predicted("steady_row_ms", {"way": way, "room": room}, law_says(way, room), within, because)
        for way, (within, because) in WITHIN.items()
        for room in ("db-far", "broker-far")
    ),
    # The article's ratio is 16. Ours depends on the two round trips, here 10.3 and 0.3 ms, on which of the two hosts is far
    # and, where CPU is charged, on T0: the same order of magnitude is as near as a ratio of unknown distances can be. That
    # is half a one to both sides, the square root of ten.
    *(
        times(
            "steady_row_ms",
            {"way": "row-by-row", "room": room},
            {"way": "row-by-row", "room": "one"},
            round(published.pipeline_ratio() / 10**0.5, 1),
            round(published.pipeline_ratio() * 10**0.5, 1),
            ARTICLE,
        )
        for room in ("db-far", "broker-far")
    ),
    # The cures, 100 rows at once: what a row by row copy loses to the distance comes back. No more than a hundredfold and
    # what the near round trips of the slow one add, (10 + 3 * 0.3) / (10 / 100); how much less is the CPU's affair, which
    # the sums above leave out: an order of magnitude stays where a row's CPU takes ten times as long as its distance.
    *(
        times(
            "steady_row_ms",
            {"way": "row-by-row", "room": "db-far"},
            {"way": way, "room": "db-far"},
            10,
            BATCH * (FAR_MS + 3 * NEAR_MS) / FAR_MS,
            "100 rows a round trip",
        )
        for way in ("batches", "pipelined")
    ),
)
