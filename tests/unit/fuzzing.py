"""Strategies for fuzzers: damaged copies of good inputs, and tables with a value of another type somewhere."""

import contextlib
import copy
import json
import math

from hypothesis import strategies as st

from slownet.model.errors import SlownetError

PIECES = [
    *(b"\0", b"\xff", b"\n", b"\r\n", b" ", b"-1", b"0", b"nan", b"inf", b"1e999", b"9" * 5000, b"[" * 2000),
    *(b"{", b"}", b'"', b"'", b"=", b":", b"#", b"~nosuch", b"..", b"/dev/zero", b"null", b"true", b"[]", b"{}"),
    *(b"\xef\xbb\xbf", b"\xed\xa0\x80", "٣µ\u2028".encode()),  # a byte order mark, half a surrogate, an Arabic digit
]


@st.composite
def damaged(draw, samples):
    """Bytes of one of the samples after a few cuts, copies and insertions."""
    data = bytearray(draw(st.sampled_from(samples)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.sampled_from([0, 0, 1, 1, 2, 4, 16, 200, 100_000])))
        new = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=8), st.just(bytes(data[at : at + 600]))))
        if draw(st.booleans()):  # as long as before: what follows stays where it is
            new = (new or b"\0")[: end - at].ljust(end - at, b"\0")
        data[at:end] = new
    return bytes(data)


TEXTS = ["", "?", "0ms", "10ms", "-5ms", "1%", "nan", "inf", "1e999", "9" * 5000, "~nosuch", "a\0b", "../..", "*", "mine.py:x"]
numbers = st.one_of(st.integers(), st.integers(-3, 3), st.floats(), st.just(10**400))
scalars = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=12), st.sampled_from(TEXTS))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)


def places(value, way=()):
    """Yield the ways to all values in nested tables and lists."""
    yield way
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*way, key))


@st.composite
def altered(draw, samples):
    """One of the samples (tables) with some values replaced, keys added or removed."""
    whole = copy.deepcopy(draw(st.sampled_from(samples)))
    for _ in range(draw(st.integers(1, 3))):
        way = draw(st.sampled_from([each for each in places(whole) if each]))
        outer = whole
        for key in way[:-1]:
            outer = outer[key]
        if draw(st.integers(0, 5)) == 0:
            del outer[way[-1]]
        else:
            outer[way[-1]] = draw(values)
        if not any(each for each in places(whole)):
            break
    return whole


def as_toml(table):
    """Return a table as TOML; what TOML cannot say (None) is left out."""
    return "\n".join(f"{json.dumps(key)} = {_toml(value)}" for key, value in table.items() if value is not None) + "\n"


def _toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)} = {_toml(each)}" for key, each in value.items() if each is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value if each is not None) + "]"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"{value}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _text(value) if isinstance(value, str) else str(value)


def _text(value):
    return json.dumps(value.encode("utf-8", "replace").decode()).replace("\x7f", "\\u007f")


@contextlib.contextmanager
def only(*kinds):
    """Nothing but slownet's own errors of these kinds may come out, each in a line that says something."""
    line = "nothing"
    try:
        yield
    except SlownetError as error:
        if kinds and not isinstance(error, kinds):
            raise
        line = str(error)
    assert line.strip()
    assert "\n" not in line
