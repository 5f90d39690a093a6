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
PAGE = 27  # questions of a page of WordPress and its login, that the article's experiment counted: `slownet run database_delay`
HELD = 44  # ms: 40 of a delayed acknowledgement, and up to a tick of the kernel's 250 a second
QUEUE, SECONDS = 20, 20  # packets of the short queue, and how long the download is measured


def one_way_and_back(far):
    """A link delays what goes, and what comes back."""
    yield "expected", 2 * far, {"as if one direction counted": far}


def a_small_page(far):
    """One round trip opens the connection, one fetches the page."""
    yield "round_trips", 2, {"as a ping": 1}
    yield "expected", 2 * far, {"as a ping": far}


def a_larger_page(page, segments):
    """The handshake, then flights of 10, 20, 40... segments (RFC 6928); ab waits for the end of the connection."""
    right = round_trips_of(page, until="close", header_bytes=HEADER)
    yield (
        "round_trips",
        right,
        {"without the handshake": right - 1, "as if all came at once": 2, "one for each segment": segments},
    )


def small_packets(page):
    """The same with segments of 524 bytes: packets of 576 without their headers and timestamps."""
    right = round_trips_of(page, until="close", header_bytes=HEADER, mss=576 - 52)
    yield "round_trips", right, {"without the handshake": right - 1, "as if all came at once": 2}


def the_reader_is_far(far):
    """WordPress's front page has 52 kB, 36 segments: the handshake, and flights of 10, 20 and 6."""
    yield "round_trips", 4, {"as a small page": 2, "without the handshake": 3}
    yield "expected", 4 * far, {"as a ping": far, "as a small page": 2 * far}


def the_database_is_far(far):
    """WordPress asks its database one question after the other: 27 round trips, with the login."""
    yield "round_trips", PAGE, {"as the reader": 4, "as a ping": 1}
    yield "expected", PAGE * far, {"as the reader": 4 * far, "as a ping": far}


def a_tenth_of_the_rate(fast, slow):
    """The time is the size over the rate."""
    yield "expected", fast / slow, {"as if distance decided": 1, "the wrong way round": slow / fast}


def a_transaction(far):
    """Each question waits for its answer."""
    yield "round_trips", 20, {"as if they were sent at once": 1}
    yield "expected", 20 * far, {"as if they were sent at once": far}


def a_short_queue(rate, far, way):
    """Slow start ends with a flight of about twice the queue, which fills it; then CUBIC (RFC 9438) opens the window."""
    lowered, since, windows = 2.0 * QUEUE, 0.0, []
    for _ in range(int(SECONDS / far)):
        since += far
        window = lowered + 0.4 * (since - (lowered * 0.3 / 0.4) ** (1 / 3)) ** 3
        if window > way + QUEUE:
            lowered, since = window, 0.0
        windows.append(min(window, way))
    share = sum(windows) / len(windows) / way
    yield "expected", share * rate / 1e6, {"as if the line decided": rate / 1e6, "the queue's share": QUEUE / way * rate / 1e6}


def two_small_writes(far):
    """The second write waits for an acknowledgement that is held for 40 ms, rounded up to the kernel's ticks."""
    yield "expected", HELD, {"as if nothing were held": 0, "as Windows holds it": 200}
    yield "expected_2", HELD + 2 * far, {"as if nothing were held": 2 * far, "as next door": HELD}


def a_pause(before, pause):
    """Who comes in the pause waits for its end, half of it on average; the others do not wait."""
    wait = pause / 2 * pause / (before + pause)
    yield "expected", wait, {"as if all came in it": pause / 2, "as a tester sees it": 0.001}


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
    "01_one_way_and_back": one_way_and_back, "02_a_small_page": a_small_page, "03_a_larger_page": a_larger_page,
    "04_small_packets": small_packets, "05_the_reader_is_far": the_reader_is_far,
    "06_the_database_is_far": the_database_is_far,
    "08_a_tenth_of_the_rate": a_tenth_of_the_rate, "09_a_transaction": a_transaction, "10_a_short_queue": a_short_queue,
    "11_two_small_writes": two_small_writes, "12_a_pause": a_pause,
    "13_a_full_queue": full_queue, "14_a_name_first": name_first, "15_the_first_byte": first_byte,
    "16_nobody_opens": nobody_opens, "17_in_a_pipeline": in_a_pipeline, "18_loss_and_the_rate": loss_and_the_rate,
    "19_after_a_rest": after_a_rest, "20_a_fair_share": fair_share,
}  # fmt: skip
IN_SECONDS = {a_pause, a_short_queue, nobody_opens}


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
