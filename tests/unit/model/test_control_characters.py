import io
import sys
import unicodedata

from slownet.model.control_characters import VisibleStream, guard, visible
from slownet.model.errors import ServiceError, SlownetError

DIRECTIONS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


def test_every_control_character_is_shown():
    for code in range(0x110000):
        shown = visible(f"a{chr(code)}b")
        if chr(code) in "\t\n" or unicodedata.category(chr(code)) not in ("Cc", "Cs", "Zl", "Zp"):
            is_direction = unicodedata.bidirectional(chr(code)) in DIRECTIONS
            assert (shown == f"a{chr(code)}b") is not (is_direction or code in (0x061C, 0x200E, 0x200F)), hex(code)
        else:
            assert shown == (f"a\\x{code:02x}b" if code < 256 else f"a\\u{code:04x}b")


def test_the_end_of_a_line_of_other_systems_stays():
    assert visible("a\r\nb\rc") == "a\r\nb\\x0dc"
    assert visible("\u00e4 \u4e2d \U0001f600 e\u0301") == "\u00e4 \u4e2d \U0001f600 e\u0301"


def test_an_error_shows_what_it_quotes():
    error = ServiceError("\x1b[2J died", "on \x9bweb", "see \u202elog", log="bind\x07\n\x1b]0;title\x07")
    assert str(error) == "\\x1b[2J died, on \\x9bweb: see \\u202elog\n    bind\\x07\n    \\x1b]0;title\\x07"
    assert repr(error.args) == repr(("\\x1b[2J died", "on \\x9bweb", "see \\u202elog"))
    assert str(SlownetError("x\rslownet: all is well")) == "x slownet: all is well"


def test_a_guarded_stream_shows_and_passes_everything_else_on(monkeypatch):
    raw = io.StringIO()
    monkeypatch.setattr(sys, "stdout", raw)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    guard()
    first = sys.stdout
    guard()
    assert sys.stdout is first
    assert isinstance(sys.stderr, VisibleStream)
    print("a\x1b[2J", end="", flush=True)
    sys.stdout.writelines(["\x07", "b\n"])
    assert raw.getvalue() == "a\\x1b[2J\\x07b\n"
    assert sys.stdout.write("\x1b") == 1
    assert not sys.stdout.isatty()
