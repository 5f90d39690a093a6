"""A format of recordings is one file of the folder, found there by what the file has."""

from pathlib import Path

import pytest

from slownet.cli.trace import trace
from slownet.links import traces
from slownet.links.traces import trace_summary
from slownet.links.traces.trace_format import BinaryFormat, Text, TextFormat
from slownet.model.errors import TraceError

MORSE = '''
"""Telegrams: a dot is a packet that came in time, a dash one that came late."""

from dataclasses import dataclass

from slownet.links.traces.trace_format import Text, TextFormat
from slownet.model.errors import TraceError


@dataclass(frozen=True)
class Telegram:
    signs: str

    def facts(self):
        return {"kind": "telegram", "signs": len(self.signs), "late_share": self.signs.count("-") / len(self.signs)}


def read(text: Text) -> Telegram:
    if set(text.content.strip()) - set(".-"):
        raise TraceError("a sign is neither dot nor dash", text.where, "correct it")
    return Telegram(text.content.strip())


FORMATS = (TextFormat(lambda text: text.first.startswith((".", "-")), read),)
'''


@pytest.fixture
def with_telegrams(tmp_path, monkeypatch):
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "telegrams.py").write_text(MORSE)
    monkeypatch.setattr(traces, "__path__", [*traces.__path__, str(folder)])
    trace_summary.formats.cache_clear()
    yield
    trace_summary.formats.cache_clear()


def test_a_new_format_is_one_file(with_telegrams, tmp_path, capsys):
    (tmp_path / "sos").write_text("...---...\n")
    trace(tmp_path / "sos")
    assert capsys.readouterr().out.split() == ["kind", "telegram", "signs", "9", "late", "33.33", "%"]
    (tmp_path / "wrong").write_text("..x\n")
    with pytest.raises(TraceError, match=r"a sign is neither dot nor dash, .*wrong: correct it"):
        trace(tmp_path / "wrong")


def test_without_its_file_it_is_a_log_of_pings(tmp_path):
    (tmp_path / "sos").write_text("...---...\n")
    with pytest.raises(TraceError, match=r"is not a line of ping's"):
        trace_summary.load(tmp_path / "sos")


DATA = Path(__file__).parent / "data"
MARKED = [path for path in sorted(DATA.iterdir()) if path.suffix in (".json", ".csv", ".gob")]


@pytest.mark.parametrize("path", MARKED, ids=lambda path: path.name)
def test_one_format_alone_takes_a_file_that_its_program_marks(path):
    head = path.read_bytes()[:64]
    found = [each for each in trace_summary.formats() if isinstance(each, BinaryFormat) and each.fits(head)]
    if not found:
        text = Text(path.read_text(), str(path))
        texts = [each for each in trace_summary.formats() if isinstance(each, TextFormat)]
        found = [each for each in texts if each.mark == 0 and each.fits(text)]
    assert len(found) == 1
