import math
from types import SimpleNamespace

import pytest

from slownet.lab.build import image, parts
from slownet.lab.host import calibrate, counter, native
from slownet.lab.run import clock, place
from slownet.lab.run.clock import Clock, ClockRequest
from slownet.model.errors import LabError


def test_the_real_clock_needs_no_arguments():
    assert Clock().arguments(0) == Clock("real").arguments(1) == ["idle-poll=200"]
    assert str(Clock()) == "real clock"


ASKED = ("clock", "tdf", "cpu", "speed")


def choose(name, clock=None, **more):
    asked = {name: more.pop(name) for name in ASKED if name in more}
    return place.choose(name, ClockRequest(clock=clock, **asked), **more)


@pytest.mark.parametrize(("tdf", "text"), [(1, "1"), (4.0, "4"), (999_999, "999999")])
def test_a_virtual_clock_tells_the_kernel_its_factor(tdf, text):
    assert Clock("virtual", tdf).arguments(0) == ["skip-idle", f"tdf={text}"]
    assert str(Clock("virtual", tdf)) == f"virtual clock, TDF {text}"


@pytest.mark.parametrize(("counter", "word"), [("processor", "5"), ("process", "process")])
def test_a_clock_that_charges_work_tells_the_kernel_what_to_count(counter, word):
    clock = Clock("virtual", 3, counter=counter)
    assert clock.arguments(5) == ["skip-idle", "tdf=3", f"work-clock={word}"]
    assert str(clock) == "virtual clock, TDF 3, work charged"
    assert clock.facts == {"clock": "virtual", "tdf": 3, "cpu": "work"}


def test_where_the_cpu_is_free_nothing_is_counted():
    clock = Clock("virtual", math.inf, counter="processor")
    assert clock.arguments(5) == ["skip-idle", "tdf=inf", "tdf-agent=1"]
    assert (clock.cpu, str(clock)) == ("free", "virtual clock, TDF inf")


def test_what_records_say_of_the_cpu():
    assert Clock("virtual", 3).cpu == "time"
    assert Clock("real", counter="process").facts == {"clock": "real", "tdf": None, "cpu": None}


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
        choose("lab", tdf=text)
    shown = text.replace("\n", " ")
    assert str(error.value) == (
        f"invalid time dilation factor '{shown}', --tdf: write a whole number from 1 to 999999, inf or auto"
    )


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("", "choose from exact, real, virtual"),
        ("Real", "did you mean 'real'?"),
        ("vitrual", "did you mean 'virtual'?"),
        ("fast", "choose from exact, real, virtual"),
    ],
)
def test_an_unknown_clock_is_one_line(text, fix):
    with pytest.raises(LabError) as error:
        choose("lab", clock=text)
    assert str(error.value) == f"unknown clock '{text}', --clock: {fix}"


@pytest.mark.parametrize("tdf", ["4", "inf", "auto"])
def test_a_factor_means_nothing_on_the_real_clock(tdf):
    with pytest.raises(LabError) as error:
        choose("auto", "real", tdf=tdf)
    assert str(error.value) == f"a time dilation factor ({tdf}) has no meaning on the real clock, --tdf: leave out one of them"


def test_an_unknown_place_is_one_line():
    with pytest.raises(LabError, match=r"^unknown place 'nativ', --place: did you mean 'native'\?$"):
        choose("nativ")


@pytest.fixture
def able(monkeypatch):
    """A machine that needs no lab."""
    monkeypatch.setattr(native, "lacks", list)
    monkeypatch.setattr(image, "installed", dict)


@pytest.fixture
def unable(monkeypatch):
    monkeypatch.setattr(native, "lacks", lambda: ["root", "netem"])


@pytest.fixture
def built(monkeypatch):
    """A lab that was built and measured; its content does not matter here."""
    made = parts.Parts(_Made(), _Made(), None)
    monkeypatch.setattr(parts, "need", lambda: made)
    monkeypatch.setattr(parts, "usable", lambda: made)
    monkeypatch.setattr(calibrate, "tdf", lambda parts: {"tdf": 3, "ratio": 3.3})
    monkeypatch.setattr(counter, "scope", lambda: None)
    return made


@pytest.fixture
def counted(built, monkeypatch):
    """A built lab and a counter; the test sets the price of counting."""
    measured = {"tdf": 5, "ratio": 5.1, "counter": "process", "price": 2.4}
    monkeypatch.setattr(counter, "scope", lambda: "process")
    monkeypatch.setattr(calibrate, "work", lambda parts, scope: {**measured, "counter": scope})
    return measured


class _Made:
    description = "made"
    versions: dict[str, str] = {}  # noqa: RUF012


def test_a_machine_that_can_needs_no_lab(able):
    chosen = choose("auto")
    assert (chosen.kind, chosen.clock) == ("native", Clock("real"))
    assert chosen.facts["place"] == "native"
    assert choose("native", "real").kind == "native"


@pytest.mark.parametrize("asked", [{"clock": "virtual"}, {"tdf": "inf"}])
def test_a_virtual_clock_needs_a_lab(able, built, asked):
    assert choose("auto", **asked).kind == "lab"
    with pytest.raises(LabError, match=r"^the virtual clock needs a lab, --place native: leave out --place, or"):
        choose("native", **asked)


def test_a_kernel_can_be_chosen_where_there_is_one_to_choose(able, built):
    assert choose("auto", kernel="base").kind == "lab"
    for where, asked, what in (
        ("native", {}, r"^without a lab, this machine's own kernel runs, --kernel: leave it out, or use --place lab$"),
        (
            "auto",
            {"clock": "exact", "exact": True},
            r"^labs on the exact clock have Debian's own kernel, --kernel: leave it out",
        ),
        ("auto", {"kernel": "large"}, r"^unknown kernel 'large', --kernel: choose from base, wide$"),
    ):
        with pytest.raises(LabError, match=what):
            choose(where, **{"kernel": "wide", **asked})


def test_a_machine_that_cannot_takes_the_lab(unable, built):
    assert choose("auto").kind == "lab"
    with pytest.raises(LabError) as error:
        choose("native")
    assert str(error.value) == (
        "this machine lacks root, netem, --place native: use a lab (--place lab), or run as root on a kernel that has them"
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
    chosen = choose("lab", **asked)
    assert chosen.clock == clock
    assert chosen.facts["tdf_probe"] == {"tdf": 3, "ratio": 3.3}


def test_a_lab_that_is_not_built_is_one_line(unable, monkeypatch):
    monkeypatch.setattr(image, "find", lambda: None)
    with pytest.raises(LabError, match=r"^the lab is not built on this machine, or not for this version: slownet lab build$"):
        choose("lab")


@pytest.fixture
def no_kernel(unable, monkeypatch):
    """A machine with all of a lab but its own kernel."""
    monkeypatch.setattr(parts, "usable", lambda: parts.Parts(None, _Made(), None))
    monkeypatch.setattr(place, "_exact_facts", lambda whole, clock: {})


def test_without_the_kernel_of_the_other_clocks_it_is_the_exact_one_for_who_can_do_with_it(no_kernel, capsys, monkeypatch):
    monkeypatch.setattr(place, "_printed", set())
    monkeypatch.setattr(
        place.Place, "_lab", lambda self, found, shares: SimpleNamespace(kernel=None, run=lambda argv, **given: 0)
    )
    found = choose("lab", exact=True)
    assert (found.clock, found.only_exact) == (Clock("exact"), True)
    assert capsys.readouterr().err == ""  # what else is wrong with the command comes first
    line = "slownet: the lab's own kernel is not built, so the clock is the exact one (slownet lab build)\n"
    found.run(["true"])
    assert capsys.readouterr().err == line
    found.run(["true"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("asked", [{}, {"exact": True, "tdf": "1"}, {"exact": True, "cpu": "time"}, {"clock": "real"}])
def test_who_cannot_is_told_what_is_missing(no_kernel, asked, capsys):
    with pytest.raises(LabError, match=r"^the lab's own kernel is not built on this machine.*: slownet lab build$"):
        choose("lab", **asked)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("asked", "clock"),
    [
        ({}, Clock("virtual", 5, counter="process")),
        ({"cpu": "auto"}, Clock("virtual", 5, counter="process")),
        ({"cpu": "work", "tdf": "1"}, Clock("virtual", 1, counter="process")),
        ({"cpu": "time"}, Clock("virtual", 3)),
        ({"clock": "real"}, Clock("real")),
        ({"tdf": "inf"}, Clock("virtual", math.inf, counter="process")),
    ],
)
def test_work_is_charged_where_it_can_be_counted(unable, counted, asked, clock):
    assert choose("lab", **asked).clock == clock


def test_work_is_charged_by_itself_only_at_a_price_that_is_worth_it(unable, counted):
    counted["price"] = 2.6
    assert choose("lab").clock == Clock("virtual", 3)
    assert choose("lab", cpu="work").clock == Clock("virtual", 5, counter="process")


def test_an_experiment_of_the_network_alone_has_a_free_cpu(unable, counted):
    assert choose("lab").on("inf").clock.cpu == "free"
    assert choose("lab").on("100").clock == Clock("virtual", 100, counter="process")


def test_asking_for_the_cpu_does_not_choose_the_clock_of_experiments(unable, counted):
    assert choose("lab", cpu="time").on("inf").clock.cpu == "free"
    assert choose("lab", cpu="time").on("7").clock == Clock("virtual", 7)


def test_what_is_charged_needs_a_virtual_clock(able, counted):
    assert choose("auto", cpu="work").kind == "lab"


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({"cpu": "works"}, "unknown way to charge the CPU 'works', --cpu: did you mean 'work'?"),
        ({"cpu": "work", "clock": "real"}, "the real clock does not charge work, --cpu: leave out --cpu"),
        ({"cpu": "time", "tdf": "inf"}, "a virtual clock with free CPU does not charge CPU time, --cpu: leave out --cpu"),
    ],
)
def test_what_cannot_be_charged_is_one_line(unable, counted, asked, line):
    with pytest.raises(LabError) as error:
        choose("lab", **asked)
    assert str(error.value) == line


def test_work_without_a_counter_is_one_line(unable, built, monkeypatch):
    monkeypatch.setattr(counter, "why_not", lambda: ("no counter here", "take --cpu time"))
    with pytest.raises(LabError) as error:
        choose("lab", cpu="work")
    assert str(error.value) == "CPU time cannot be charged: no counter here, --cpu: take --cpu time"


@pytest.mark.parametrize(
    ("how", "line"),
    [
        (
            {"tdf": "inf"},
            "a time dilation factor (inf) has no meaning on the exact clock, --tdf: leave out one of them",
        ),
        ({"cpu": "work"}, "the exact clock does not charge work, --cpu: leave out --cpu"),
        ({"name": "native"}, "the exact clock needs a lab, --place native: leave out --place, or use --clock real"),
    ],
)
def test_what_means_nothing_on_the_exact_clock(able, how, line):
    with pytest.raises(LabError) as error:
        choose(**{"name": "auto", "clock": "exact", "exact": True, **how})
    assert str(error.value) == line


@pytest.mark.parametrize("where", ["auto", "lab", "native"])
def test_a_command_that_cannot_do_with_the_exact_clock_is_refused(able, where):
    with pytest.raises(LabError) as error:
        choose(where, "exact")
    assert str(error.value) == (
        "only `slownet run`, `check`, `sweep`, "
        "`hunt`, `reproduce`, `lab exec` and tests have the exact clock, --clock exact: "
        "use the virtual clock, or leave it out"
    )


@pytest.mark.parametrize(
    ("clock", "line"),
    [
        (
            "virtual:3",
            "only the exact clock has a number of instructions in a nanosecond, --clock virtual:3: write virtual",
        ),
        ("exact:0", "invalid number of instructions in a nanosecond, '0', --clock exact: write exact:N"),
        ("exact:21", "invalid number of instructions in a nanosecond, '21', --clock exact: write exact:N with a whole number"),
        ("exact:", "invalid number of instructions in a nanosecond, '', --clock exact: write exact:N"),
    ],
)
def test_a_speed_that_no_clock_has_is_one_line(able, clock, line):
    with pytest.raises(LabError) as error:
        choose("auto", clock, exact=True)
    assert str(error.value).startswith(line)


def test_the_exact_clock_charges_instructions_and_has_limits_of_its_own():
    clock = Clock("exact")
    assert clock.facts == {"clock": "exact", "tdf": None, "cpu": "instructions"}
    assert str(clock) == "exact clock, 3 instructions/ns"
    assert not clock.cpu_is_free
    assert clock.silence_s < Clock("virtual").silence_s
    assert Clock("exact", limit_s=5).silence_s == 5
