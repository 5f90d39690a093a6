"""What is kept of the readings of queues."""

from slownet.net.backlog import FIRST_S, MOST, Backlog, of_the_longest


def test_readings_get_rarer_and_stay_evenly_spaced():
    read = Backlog()
    at = 0.0
    for number in range(10_000):
        if round(at / FIRST_S) == number:
            read.add(at, {"web-eth0": number})
            at += read.every_s
    assert MOST / 2 - 1 <= len(read.seconds) < MOST
    assert len({round(after - before, 6) for before, after in zip(read.seconds, read.seconds[1:], strict=False)}) == 1
    assert read.queued_bytes == {"web-eth0": [round(each / FIRST_S) for each in read.seconds]}
    assert read.seconds[-1] > 0.98 * at


def test_of_several_programs_the_longest_counts():
    ping, tool, failed = Backlog([0.0, 0.01]), Backlog([0.0, 5.0]), Backlog()
    assert of_the_longest([ping, tool, failed]) is tool
    assert of_the_longest([failed, Backlog([0.0])]) is None
