"""The page of errors has every error of the code, each with its fix."""

import re
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
sys.path.insert(0, str(CHECKOUT / "docs/_ext"))

from slownet_docs import messages  # noqa: E402  # from the folder above

RAISED = re.compile(r'raise (?:\w+\.)?(\w+Error)\(\s*(?:what=)?f?"([^"{]{8,})')
"""A raise whose message begins with a text of its own, as the eye finds it."""
LEAST = 150


@pytest.fixture(scope="module")
def collector():
    return messages.Collector()


@pytest.fixture(scope="module")
def collected(collector):
    return collector.messages()


def sites(kinds):
    """Return (file, class, first words) of what the eye finds, independent of the collector."""
    for path in sorted((CHECKOUT / "lib/slownet").rglob("*.py")):
        for kind, words in RAISED.findall(path.read_text()):
            if kind in kinds:
                yield str(path.relative_to(CHECKOUT / "lib/slownet")), kind, words.replace("\\n", " ")


def test_every_raise_is_on_the_page(collector, collected):
    found = list(sites(collector.kinds))
    assert len(found) > LEAST
    page = {(each.file, each.kind) for each in collected}
    missing = [
        site
        for site in found
        if site[:2] not in page or not any(m.file == site[0] and m.what.startswith(site[2]) for m in collected)
    ]
    assert missing == []


def test_every_error_has_a_fix(collected):
    written = messages.fixes()
    missing = [f'["{each.file}"]\n"{each.what}" = "..."' for each in collected if not messages.advice(each, written)]
    assert missing == [], "write it into docs/reference/fixes.toml, or better into the error itself"


def test_every_written_fix_is_needed(collected):
    written = messages.fixes()
    needed = {(each.file, each.what) for each in collected if not each.fix}
    files = {file for file, _ in needed}
    stale = [(file, what) for file, own in written.items() for what in own if what != "*" and (file, what) not in needed]
    assert stale == []
    assert sorted(set(written) - files) == []


CODE = """
class TeapotError(SlownetError):
    pass

SIZES = "small or large"

def brew(name, size):
    if not name:
        what = "no tea" if size else "nothing"
        raise TeapotError(what, fix=f"name one, {SIZES}")
    if size:
        _fail(f"{size} is too much", "take less")
    raise TeapotError(f"cannot brew {name}: {error.strerror}", fix=nearest(name, TEAS))

def _fail(what, fix):
    raise TeapotError(what, where="the pot", fix=fix)
"""


def test_messages_of_a_file(tmp_path):
    (tmp_path / "pot.py").write_text(CODE)
    assert messages.Collector(tmp_path).messages() == [
        messages.Message("pot.py", "TeapotError", "<size> is too much", "take less"),
        messages.Message("pot.py", "TeapotError", "cannot brew <name>: <strerror>", messages.NEAREST),
        messages.Message("pot.py", "TeapotError", "no tea", "name one, small or large"),
        messages.Message("pot.py", "TeapotError", "nothing", "name one, small or large"),
    ]


@pytest.mark.parametrize("text", ["a `code` inside", "plain"])
def test_a_message_is_code_whatever_it_holds(text):
    assert messages._code(text).strip("` ") == text.strip("` ")
