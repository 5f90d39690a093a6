"""Which answers theory gives to the exercises beside this folder, for each variant's values, and mistakes that are likely.

A function has an exercise's values, and yields the name of each question, its right answer, and wrong ones with what a student
may have thought.
"""

import math

from slownet.model.units import duration, rate
from slownet.theory.handshakes import round_trips

FRAME = 1514  # bytes of a full packet over Ethernet


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


EXERCISES = {
    "13_a_full_queue": full_queue, "14_a_name_first": name_first, "15_the_first_byte": first_byte,
    "16_nobody_opens": nobody_opens,
}  # fmt: skip
IN_SECONDS = {nobody_opens}


def answers(exercise, values):
    """Return what an exercise's function yields: names of questions, right answers, and wrong ones with their reasons."""
    function = EXERCISES[exercise]
    return list(function(**{name: number(text, 1 if function in IN_SECONDS else 1000) for name, text in values.items()}))


def number(text, in_a_second):
    """Read a value of a variant: bits per second, a time, or else the text."""
    if text.endswith("bit"):
        return rate(text) / in_a_second
    return in_a_second * duration(text) if text.endswith("s") and text[:1].isdigit() and " " not in text else text


def packets(text):
    """Return the number of "200 packets"."""
    return int(text.split()[0])
