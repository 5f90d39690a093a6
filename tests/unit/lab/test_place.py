import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from slownet.lab.run import place
from slownet.lab.run.caller import folder as shared_folder
from slownet.lab.run.caller import share
from slownet.lab.run.clock import Clock
from slownet.lab.run.folders import hides
from slownet.lab.run.lab import Share
from slownet.lab.run.place import Interrupts, Place
from slownet.model.errors import LabError
from slownet.model.importing import PACKAGE


@pytest.mark.parametrize(
    "folder",
    [
        *(
            "/",
            "/etc",
            "/etc/x",
            "/usr/lib/x",
            "/tmp",
            "/root",
            "/opt",
            "/opt/slownet",
            "/opt/slownet/venv",
            "/var",
            "/var/lib",
        ),
        *("/var/www", "/var/lib/slownet/wordpress", "/proc/1", "/run/user/0", "/dev/shm"),
    ],
)
def test_folders_that_would_hide_the_labs_own(folder, monkeypatch):
    assert hides(Path(folder))
    monkeypatch.setattr(Path, "is_dir", lambda self: True)
    monkeypatch.setattr(Path, "resolve", lambda self: self)
    with pytest.raises(LabError) as error:
        shared_folder(Path(folder))
    what = "is the whole machine" if folder == "/" else "would hide the lab's own folder"
    assert str(error.value) == f"{folder} {what}, --share: share another folder"


@pytest.mark.parametrize(
    "folder", ["/home/a", "/home", "/root/x", "/tmp/x", "/work", "/opt/x", "/var/lib/jenkins", "/var/tmp/x", "/srv", "/mnt/c d"]
)
def test_folders_that_a_lab_can_have(folder):
    assert not hides(Path(folder))


@pytest.mark.parametrize("given", ["~", "{home}", "{home}/..", "{home}/link"])
def test_a_whole_home_is_shared_read_only_alone(given, tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    (home / "link").symlink_to("..")
    monkeypatch.setenv("HOME", str(home))
    text = given.format(home=home)
    assert not share(text).writable
    with pytest.raises(LabError, match=r"contains your home, .*, and would be writable, --share: share another folder"):
        share(f"{text}:rw")
    assert share("~/work:rw") == Share(home / "work", writable=True)
    with pytest.raises(LabError, match=r"^there is no user 'no-such-user', for ~no-such-user.*, --share: write the whole path"):
        share("~no-such-user/x")


def test_a_share_that_is_no_folder_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    for each in (tmp_path / "file", tmp_path / "nothing"):
        with pytest.raises(LabError) as error:
            shared_folder(each)
        assert str(error.value) == f"{each} is not a folder, --share: name a folder of this machine"


def test_a_share_is_what_it_points_to(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    assert shared_folder(tmp_path / "link") == tmp_path / "folder"


def test_signals_go_to_the_place_while_it_runs(monkeypatch):
    heard = []
    monkeypatch.setattr(Place, "signal", lambda self, number: heard.append(number))
    before = signal.getsignal(signal.SIGTERM)
    with Interrupts(Place(None, {})) as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGHUP)
    assert heard == [signal.SIGTERM, signal.SIGHUP]
    assert interrupts.received == signal.SIGHUP
    assert signal.getsignal(signal.SIGTERM) == before


def test_after_a_signal_nothing_starts_any_more():
    here = Place(None, {})
    with Interrupts(here):
        os.kill(os.getpid(), signal.SIGTERM)
        assert here.run(["true"]) == -signal.SIGTERM
    assert here.run(["true"]) == 0


@pytest.mark.parametrize("moment", ["before", "as it becomes known"])
def test_a_signal_while_a_lab_is_prepared_reaches_it(monkeypatch, moment):
    """It took what the command took: at the first of these moments nobody told the lab."""

    class Known(list):
        def append(self, lab):
            if moment == "as it becomes known":
                os.kill(os.getpid(), signal.SIGTERM)
            super().append(lab)

    class Prepared:
        def __init__(self):
            self.heard, self.kernel = [], None

        def signal(self, number):
            self.heard.append(number)

        def run(self, argv, **how):
            return -self.heard[0] if self.heard else 0

    def shares():
        if moment == "before":
            os.kill(os.getpid(), signal.SIGTERM)
        return []

    lab = Prepared()
    monkeypatch.setattr(Place, "_lab", lambda self, parts, shares: lab)
    monkeypatch.setattr(place, "extension_shares", shares)
    monkeypatch.setattr(place.container_shares, "shares", list)
    here = Place(Clock("real"), {}, parts=SimpleNamespace(built=0), _running=Known())
    with Interrupts(here):
        assert here.run(["sleep", "100"]) == -signal.SIGTERM
    assert set(lab.heard) == {signal.SIGTERM}


def test_a_signal_that_the_caller_ignores_stays_ignored(monkeypatch):
    monkeypatch.setattr(Place, "signal", lambda self, number: pytest.fail("passed on"))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts(Place(None, {})) as interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
        assert interrupts.received == 0
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_environment_of_a_lab_has_nothing_of_the_callers(monkeypatch):
    monkeypatch.setenv("SECRET", "1")
    monkeypatch.setenv("PATH", "/mine")
    environment = place.lab_environment(place.Clock("virtual", 3))
    assert "SECRET" not in environment
    assert "/mine" not in environment["PATH"]
    assert environment["PATH"].startswith("/opt/slownet/venv/bin:")
    assert environment["PYTHONPATH"] == str(PACKAGE.parent)


def test_the_code_goes_in_read_only():
    share = place.code_shares(Clock("virtual"))[0]
    assert not share.writable
    assert PACKAGE.is_relative_to(share.path)


def test_an_exact_lab_has_the_code_and_the_terminal_that_every_other_one_has(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-kitty")
    exact = Clock("exact")
    (share,) = place.code_shares(exact)
    assert (share.at, share.only) == (place.COPY, place.OF_A_CHECKOUT)
    environment = place.lab_environment(exact)
    assert environment["PYTHONPATH"] == f"{place.COPY}/lib"
    assert environment["TERM"] == "dumb"
    assert not any(str(PACKAGE) in value for value in environment.values())


def test_an_experiment_has_the_exact_clock_that_it_asks_for_unless_the_caller_chose_one(monkeypatch):
    monkeypatch.setattr(place, "_exact_facts", lambda parts, clock: {"machine": clock.speed})
    lab = Place(Clock("virtual", 3), {"kernel": "k"}, parts=object())
    asked = lab.on(None, "exact")
    assert (asked.clock, asked.facts) == (Clock("exact"), {"kernel": "k", "machine": 3})
    lab.clock_is_asked_for = True
    assert lab.on(None, "exact").clock == Clock("virtual", 3)
    with pytest.raises(LabError) as error:
        Place(Clock("real"), {}).on(None, "exact")
    assert str(error.value) == "the experiment asks for the exact clock, which needs a lab: --place lab, or --clock real"


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_descriptors_that_are_closed_are_opened_before_anything_gets_their_numbers(closed):
    script = f"""
import os
from slownet.lab.run import foreground
for fd in {closed!r}: os.close(fd)
foreground.open_what_is_closed()
assert all(os.readlink(f"/proc/self/fd/{{fd}}") == "/dev/null" for fd in {closed!r})
os._exit(7 if os.dup(0) >= 3 else 1)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False, capture_output=True).returncode == 7


def test_kept_images_are_shared_with_every_lab_if_there_are_any(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    given = []

    class Parts:
        built, kernel = 0, None

        def lab(self, clock, *, megabytes, shares):
            given.append([each.mount for each in shares])
            return self

        def run(self, argv, **options):
            return 0

    for _ in range(2):
        Place(Clock("real"), {}, Parts()).run(["true"])
        (tmp_path / "slownet" / "containers").mkdir(parents=True, exist_ok=True)
    mount = ("ro", str(tmp_path / "slownet" / "containers"), "/opt/slownet/containers")
    assert mount not in given[0]
    assert mount in given[1]


def test_the_projects_folders_are_shared_unless_they_are_already(tmp_path, monkeypatch):
    given = {}

    class Parts:
        built, kernel = 0, None

        def lab(self, clock, *, megabytes, shares):
            given["shares"] = shares
            return self

        def run(self, argv, **options):
            return 0

    dist, data = Share(tmp_path / "dist"), Share(tmp_path / "data")
    asked = Share(tmp_path / "data", writable=True)
    here = Place(Clock("real"), {}, Parts(), shares=[dist, data])
    assert here.run(["true"], shares=[asked, Share(tmp_path)]) == 0
    assert [each for each in given["shares"] if each.path.is_relative_to(tmp_path)] == [Share(tmp_path), asked, dist]


def test_a_project_is_searched_from_a_folder_or_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "slownet.toml").write_text('packages = ["jq"]')
    (tmp_path / "deep").mkdir()
    assert place.here(tmp_path / "deep").packages == ("jq",)
    monkeypatch.chdir(tmp_path / "deep")
    assert place.here().file == tmp_path / "slownet.toml"
    (tmp_path / "deep").rmdir()
    assert place.here() is None


@pytest.mark.parametrize(
    ("clock", "built", "layer", "turn", "date"),
    [
        (Clock("real"), 1_800_000_000, None, 1, 0),
        (Clock("virtual", 3), 1_800_000_000, None, 1, 1_800_086_401),
        (Clock("exact"), 1_800_000_000, None, 1, 1_798_761_600),  # 2027-01-01, whenever the image was built, in all boots
        (Clock("exact"), 1_790_000_000, 1_795_000_000, 0, 1_798_761_600),
        (Clock("exact"), 1_790_000_000, 1_800_000_000, 0, 1_800_086_400),  # no file of the layer is of the future
    ],
)
def test_the_date_in_a_lab(clock, built, layer, turn, date):
    parts = SimpleNamespace(built=built, layer=SimpleNamespace(built=layer) if layer else None)
    assert Place(clock, {}, parts)._date(parts, turn) == date
