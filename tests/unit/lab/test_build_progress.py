"""How far a build is, and how long the rest takes."""

import threading

import pytest

from slownet.lab.build import kernel


@pytest.mark.parametrize(
    ("done", "total", "seconds", "said"),
    [
        (0, 1000, 15, "0 of some 1000 files compiled"),
        (49, 1000, 15, "49 of some 1000 files compiled"),  # too few to tell
        (250, 1000, 60, "250 of some 1000 files compiled, about 3 minutes left"),
        (900, 1000, 540, "900 of some 1000 files compiled, about 1 minute left"),
        (999, 1000, 600, "999 of some 1000 files compiled, about 1 minute left"),
        (1100, 1000, 600, "1100 of some 1100 files compiled"),  # another release has more
        (700, 0, 600, "700 files compiled"),
    ],
)
def test_a_sentence(done, total, seconds, said):
    assert kernel.sentence(done, total, seconds) == said


def test_files_of_the_step_are_counted_from_its_log(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "FIRST_S", 0.01)
    monkeypatch.setattr(kernel, "EVERY_S", 0.01)
    log = tmp_path / "kernel.log"
    log.write_text("  CC      before.o\n")
    said, enough = [], threading.Event()

    def say(text):
        said.append(text)
        if text.startswith("2 "):
            enough.set()

    with kernel.reported(log, 0, say):
        with log.open("a") as file:
            file.write("  CC      a.o\n  AR      built-in.a\n  AS      b.o\n  CC is not at its place\n")
        assert enough.wait(60)
    count = len(said)
    assert said[-1] == "2 files compiled"
    with log.open("a") as file:
        file.write("  CC      after.o\n")
    assert len(said) == count, "nothing is said after the end"


def test_a_step_that_ends_at_once_says_nothing(tmp_path):
    said = []
    with kernel.reported(tmp_path / "none.log", 10, said.append):
        pass
    assert not said
