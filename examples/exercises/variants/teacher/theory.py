"""Which answers theory gives to the exercises beside this folder, for each variant's values, and mistakes that are likely.

A function has an exercise's values, and yields the name of each question, its right answer, and wrong ones with what a student
may have thought.
"""

import math

from slownet.model.units import duration, percent, rate, size
from slownet.theory.handshakes import round_trips
from slownet.theory.slow_start import MSS
from slownet.theory.slow_start import round_trips as round_trips_of
from slownet.theory.throughput import mathis

FRAME = 1514  # bytes of a full packet over Ethernet
WARM = 10**7  # bytes of a receive window that is no limit
HEADER = 237  # bytes of nginx's answer before the page


def full_queue(rate, far, short, long):
    """A ping waits for all packets before it in the queue, and travels. A line that is never idle cannot be faster."""
    yield "expected", far + packets(long) * FRAME * 8 / rate, {"as if only the way took time": far}
    yield "expected_2", 1, {"as if a queue carried data": packets(long) / packets(short)}


def name_first(site, names):
    """A question for the name, a handshake, a request. Who remembers name and connection has one round trip a page."""
    yield "expected", names + 2 * site, {"as if addresses were known": 2 * site, "without the handshake": names + site}
    yield "expected_2", names + 4 * site, {"as if nothing were kept": 3 * (names + 2 * site)}


def first_byte(far):
    """TCP's handshake, TLS's, the request; QUIC has one handshake for both (RFC 9001), and none with early data."""
    kinds = {"expected": "TLS 1.3", "expected_2": "QUIC", "expected_3": "QUIC 0-RTT"}
    for name, stack in kinds.items():
        trips = round_trips(stack=stack)
        yield name, trips * far, {"one round trip more": (trips + 1) * far}


def nobody_opens(closed, far):
    """The first SYNs are sent each second (RFC 6298; Linux's tcp_syn_linear_timeouts); then a handshake and a request."""
    knocks = math.ceil(closed)
    doubling = 2 ** math.ceil(math.log2(knocks + 1)) - 1
    at_once = {"as if the browser knew when it opens": closed + 2 * far, "in ms": 1000 * (knocks + 2 * far)}
    yield "expected", knocks + 2 * far, at_once | {"as if each pause were twice the last": doubling + 2 * far}


def in_a_pipeline(far, depth):
    """Who waits for each answer asks once a round trip; who sends more meanwhile asks so many times as often."""
    yield "expected", 1000 / far, {"as if only one way took time": 2000 / far}
    yield "expected_2", 1000 * depth / far, {"as if they were answered one by one": 1000 / far}


def loss_and_the_rate(far, loss):
    """The rule of Mathis and others (1997): a window of sqrt(1.5 / p) segments in each round trip."""
    lines = {"what is not lost of the line's": 50 * (1 - loss), "without the root": 1.5 / loss * 8 * MSS / far / 1000}
    yield "expected", mathis(loss, far / 1000) / 1e6, lines


def after_a_rest(far, page):
    """A warm connection has room for the whole page. After a rest it begins with ten segments, and doubles (RFC 5681, 4.1)."""
    flights = round_trips_of(page, until="last byte", header_bytes=HEADER, receive_window=WARM) - 1
    yield "expected", far, {"as after the rest": flights * far}
    yield "expected_2", flights * far, {"as if it were still warm": far, "with a handshake": (flights + 1) * far}


def fair_share(rate, far, others, more):
    """Each connection has the same share, so a user has as many shares as connections."""
    yield "expected", 1 / (1 + others), {"as if the first one kept all": 1}
    yield "expected_2", more / (more + others), {"as if shares were users'": 1 / (1 + others)}


EXERCISES = {
    "13_a_full_queue": full_queue, "14_a_name_first": name_first, "15_the_first_byte": first_byte,
    "16_nobody_opens": nobody_opens, "17_in_a_pipeline": in_a_pipeline, "18_loss_and_the_rate": loss_and_the_rate,
    "19_after_a_rest": after_a_rest, "20_a_fair_share": fair_share,
}  # fmt: skip
IN_SECONDS = {nobody_opens}


def answers(exercise, values):
    """Return what an exercise's function yields: names of questions, right answers, and wrong ones with their reasons."""
    function = EXERCISES[exercise]
    return list(function(**{name: number(text, 1 if function in IN_SECONDS else 1000) for name, text in values.items()}))


def number(text, in_a_second):
    """Read a value of a variant: bits per second, a time, bytes, a share, or else what it is."""
    if not isinstance(text, str) or " " in text:
        return text
    readers = (("bit", rate, 1 / in_a_second), ("B", size, 1), ("%", percent, 1), ("s", duration, in_a_second))
    for ending, reader, factor in readers:
        if text.endswith(ending):
            return factor * reader(text)
    return text


def packets(text):
    """Return the number of "200 packets"."""
    return int(text.split()[0])
