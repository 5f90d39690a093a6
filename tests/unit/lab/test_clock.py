import math

import pytest

from slownet.errors import LabError
from slownet.lab import calibrate, clock, image, native, parts, place
from slownet.lab.clock import Clock


def test_the_real_clock_needs_no_arguments():
    assert Clock().arguments == Clock("real").arguments == ["idle-poll=200"]
    assert str(Clock()) == "real clock"


@pytest.mark.parametrize(("tdf", "text"), [(1, "1"), (4.0, "4"), (999_999, "999999"), (math.inf, "inf")])
def test_a_virtual_clock_tells_the_kernel_its_factor(tdf, text):
    assert Clock("virtual", tdf).arguments == ["skip-idle", f"tdf={text}"]
    assert str(Clock("virtual", tdf)) == f"virtual clock, TDF {text}"


def test_only_a_virtual_clock_limits_silence():
    assert Clock().silence_s == 0
    assert Clock("virtual", 4).silence_s == 30 * 24 * 3600
    assert Clock("virtual", 4, limit_s=5).silence_s == 5


@pytest.mark.parametrize(("text", "seconds"), [("1s", 1), ("1.2s", 2), ("720h", 30 * 24 * 3600)])
def test_a_limit_in_whole_seconds(text, seconds):
    assert clock.check_limit(text) == seconds


@pytest.mark.parametrize(("text", "value"), [("auto", None), ("inf", math.inf), ("1", 1), ("007", 7), ("999999", 999_999)])
def test_a_time_dilation_factor(text, value):
    assert clock.check_tdf(text) == value


BAD_FACTORS = ["", "0", "-1", "+4", "1.5", "4x", " 4", "1e3", "0x10", "1000000", "Inf", "infinity", "nan", "AUTO", "٣", "4\n5"]


@pytest.mark.parametrize("text", BAD_FACTORS)
def test_any_other_factor_is_one_line(text):
    with pytest.raises(LabError) as error:
        place.choose("lab", tdf=text)
    shown = text.replace("\n", " ")
    assert str(error.value) == (
        f"unclear time dilation factor '{shown}', --tdf: write a whole number from 1 to 999999, inf or auto"
    )


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("", "choose from real, virtual"),
        ("Real", "did you mean 'real'?"),
        ("vitrual", "did you mean 'virtual'?"),
        ("fast", "choose from real, virtual"),
    ],
)
def test_an_unknown_clock_is_one_line(text, fix):
    with pytest.raises(LabError) as error:
        place.choose("lab", clock=text)
    assert str(error.value) == f"unknown clock '{text}', --clock: {fix}"


@pytest.mark.parametrize("tdf", ["4", "inf", "auto"])
def test_a_factor_means_nothing_on_the_real_clock(tdf):
    with pytest.raises(LabError) as error:
        place.choose("auto", "real", tdf)
    assert (
        str(error.value)
        == f"a time dilation factor of {tdf} means nothing on the real clock, --tdf: leave out --tdf or --clock real"
    )


def test_an_unknown_place_is_one_line():
    with pytest.raises(LabError, match=r"^unknown place 'nativ', --place: did you mean 'native'\?$"):
        place.choose("nativ")


@pytest.fixture
def able(monkeypatch):
    """A machine that can do without a lab."""
    monkeypatch.setattr(native, "lacks", list)
    monkeypatch.setattr(image, "installed", dict)


@pytest.fixture
def unable(monkeypatch):
    monkeypatch.setattr(native, "lacks", lambda: ["root", "netem"])


@pytest.fixture
def built(monkeypatch):
    """A lab that was built and measured: nothing of it is looked at here."""
    made = parts.Parts(_Made(), _Made(), None)
    monkeypatch.setattr(parts, "need", lambda: made)
    monkeypatch.setattr(calibrate, "tdf", lambda parts: {"tdf": 3, "ratio": 3.3})
    return made


class _Made:
    description = "made"
    versions: dict[str, str] = {}  # noqa: RUF012


def test_a_machine_that_can_needs_no_lab(able):
    chosen = place.choose("auto")
    assert (chosen.kind, chosen.clock) == ("native", Clock("real"))
    assert chosen.facts["place"] == "native"
    assert place.choose("native", "real").kind == "native"


@pytest.mark.parametrize("asked", [{"clock": "virtual"}, {"tdf": "inf"}])
def test_a_virtual_clock_needs_a_lab(able, built, asked):
    assert place.choose("auto", **asked).kind == "lab"
    with pytest.raises(LabError, match=r"^the virtual clock needs a lab, --place native: leave out --place, or"):
        place.choose("native", **asked)


def test_a_machine_that_cannot_takes_the_lab(unable, built):
    assert place.choose("auto").kind == "lab"
    with pytest.raises(LabError) as error:
        place.choose("native")
    assert str(error.value) == (
        "this machine lacks root, netem, --place native: take the lab (--place lab), or run as root on a kernel that has them"
    )


@pytest.mark.parametrize(
    ("asked", "clock"),
    [
        ({}, Clock("virtual", 3)),
        ({"tdf": "auto"}, Clock("virtual", 3)),
        ({"clock": "virtual", "tdf": "7"}, Clock("virtual", 7)),
        ({"tdf": "inf"}, Clock("virtual", math.inf)),
        ({"clock": "real"}, Clock("real")),
    ],
)
def test_the_clock_of_a_lab(unable, built, asked, clock):
    chosen = place.choose("lab", **asked)
    assert chosen.clock == clock
    assert chosen.facts["tdf_probe"] == {"tdf": 3, "ratio": 3.3}


def test_a_lab_that_is_not_built_is_one_line(unable, monkeypatch):
    monkeypatch.setattr(parts, "find", lambda: None)
    with pytest.raises(LabError, match=r"^the lab is not built on this machine, or not for this version: slownet lab build$"):
        place.choose("lab")
