"""Mistakes in the words of a command: status 2 and one line that names what is meant, before anything is made."""

from types import SimpleNamespace

import pytest

from slownet.cli.app import main
from slownet.hypotheses.catalogue import find
from slownet.lab.run import place
from slownet.lab.run.clock import INF, Clock
from slownet.model.errors import LabError
from slownet.runner.run_request import conditions

MISTAKES = [
    (["run", "client_dealy"], "client_delay"),
    (["run"], "client_delay"),
    (["run", "client_delay", "--clock", "rael"], "real"),
    (["run", "client_delay", "--tdf", "fast"], "inf"),
    (["run", "client_delay", "--tdf", "0"], "--tdf"),
    (["run", "client_delay", "--clock", "real", "--tdf", "4"], "--tdf"),
    (["run", "client_delay", "--vary", "rtt=10"], "10ms"),
    (["run", "client_delay", "--vary", "rtt=ten ms"], "ten ms"),
    (["run", "client_delay", "--vary", "rtt=-1ms"], "-1ms"),
    (["run", "client_delay", "--vary", "rt=1ms"], "'rtt'"),
    (["run", "client_delay", "--vary", "rtt"], "--vary"),
    (["run", "client_delay", "--memory", "10"], "--memory"),
    (["run", "client_delay", "--memory", "lots"], "--memory"),
    (["run", "client_delay", "--place", "here"], "--place"),
    (["run", "client_delay", "--repeat", "often"], "--repeat"),
    (["run", "client_delay", "--repeat", "0"], "--repeat"),
    (["run", "client_delay", "--labs", "two"], "--labs"),
    (["run", "client_delay", "--labs", "0"], "--labs"),
    (["run", "client_delay", "--labs", "2", "--clock", "real", "--place", "lab"], "--labs"),
    (["run", "client_delay", "--budget", "5x"], "unknown unit"),
    (["run", "client_delay", "--budget", "5m,6m"], "--budget"),
    (["run", "client_delay", "--capture", "web-eth"], "no interface 'web-eth', --capture: did you mean 'web-eth0'?"),
    (["run", "client_delay", "--capture", "hosts,foo"], "no interface 'foo', --capture"),
    (["show", "/nowhere", "--at", "rtt=85ms,t0=12ms"], "/nowhere"),
    (["run", "--resume", "/nowhere"], "/nowhere"),
    (["run", "--resume", "/nowhere", "--repeat", "2"], "/nowhere"),
    (["run", "--resume", "/nowhere", "--repeat", "0"], "--repeat"),
    (["run", "--resume", "/nowhere", "--tdf", "inf"], "--tdf"),
    (["run", "nothing.py"], "nothing.py"),
    (["why"], "name a run or an experiment"),
    (["why", "nothing"], "no run or experiment 'nothing': choose from"),
    (["why", "client_dealy"], "no run or experiment 'client_dealy': did you mean 'client_delay'?"),
    (["why", "client_delay", "--cell", "rtt"], "unclear cell 'rtt', --cell: write NAME=VALUE"),
    (["why", "client_delay", "--cell", "rt=1ms"], "'rtt'"),
    (["why", "--topology", "two_hosts"], "no command, --topology: write it after --"),
    (["why", "--link", "client-server=LTE"], "no command, --link: write it after --"),
    (["why", "--limit", "1s", "nothing"], "no command, --limit: write it after --"),
    (["why", "--topology", "two_hosts", "--"], "no command after --"),
    (["why", "--", "true"], "the command has no network: name one"),
    (["why", "client_delay", "--topology", "two_hosts", "--", "true"], "several networks: client_delay, two_hosts"),
    (["why", "nothing", "--", "true"], "nothing is not an experiment"),
    (["why", "--topology", "two_hots", "--", "true"], "did you mean 'two_hosts'"),
    (["why", "--topology", "two_hosts", "--from", "sever", "--", "true"], "no host 'sever', --from: did you mean 'server'"),
    (["why", "--topology", "two_hosts", "--limit", "5", "--", "true"], "--limit"),
    (["why", "--topology", "two_hosts", "--cell", "rtt=1ms", "--", "true"], "a command has no cells, --cell"),
    (["why", "--topology", "two_hosts", "--profile", "x", "--", "true"], "--profile: add --compose"),
    (["why", "--topology", "two_hosts", "--limit", "0s", "--", "true"], "leaves no time, --limit: give more than 0"),
    (["why", "--compose", "nothing.yaml", "--", "true"], "nothing.yaml"),
    (["why", "client_delay", "more", "words"], "3 runs, RUN: name one, or two to compare; a command stands after --"),
    (["rnu"], "no command 'rnu': did you mean `slownet run`?"),
    (["rum"], "no command 'rum': did you mean `slownet run`?"),
    (["run", "x", "--cures"], "slownet run has no option --cures: it belongs to `slownet why`; see slownet run --help"),
    (
        ["why", "--vary", "rtt=1ms"],
        "has no option --vary: it belongs to `slownet run` and `slownet sweep`; see slownet why --help",
    ),
    (["run", "x", "--reapet", "3"], "slownet run has no option --reapet: did you mean --repeat?"),
    (["check", "mark", "--no-such"], "slownet check mark has no option --no-such: see slownet check mark --help"),
    (["client_delay"], "no command 'client_delay': did you mean `slownet run client_delay`?"),
    (["client_dealy"], "no command 'client_dealy': did you mean `slownet run client_delay`?"),
    (["two_hosts"], "no command 'two_hosts': did you mean `slownet shell two_hosts`?"),
    (["mark"], "no command 'mark': did you mean `slownet check mark`?"),
    (["compsoe"], "no command 'compsoe': did you mean `slownet shell compose`?"),
    (["tdf"], "no command 'tdf': did you mean `slownet help tdf`?"),
    (["xyzzy"], "no command 'xyzzy': see slownet --help"),
    (["run", "client_delay", "--jsno"], "--jsno"),
]


@pytest.fixture(autouse=True)
def lab(monkeypatch):
    """There is a lab, or seems to be: the mistake is what is wrong."""

    def chosen(kind, factor, *others):
        clock = Clock("real") if kind == "real" else Clock("virtual", factor or INF)
        facts = {"kernel": "7", "image": "Debian", "place": "lab", "versions": {}}
        return place.Place(clock, facts, SimpleNamespace(own_kernel=True))

    monkeypatch.setattr(place, "_lab", chosen)


@pytest.mark.parametrize(("words", "named"), MISTAKES, ids=lambda each: " ".join(each) if isinstance(each, list) else "")
def test_a_mistake_is_one_line_and_makes_nothing(words, named, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert named in err
    assert not list(tmp_path.iterdir())


BEFORE_A_LAB = [
    (["run", "client_dealy"], "no experiment 'client_dealy': did you mean 'client_delay'?"),
    (["run", "nothing.py"], "no file"),
    (["run"], "no experiment is named"),
    (["run", "client_delay", "--vary", "rtt=10"], "duration '10' has no unit"),
    (["run", "client_delay", "--vary", "rtt=0-100ms"], "'0-100ms' is not a value, --vary rtt: a range is written from:to:step, "
     "such as 0:100:10ms"),
    (["run", "client_delay", "--vary", "rtt=20ms..120ms"], "such as 20:120:10ms"),
    (["run", "client_delay", "--vary", "rtt=100:0:10ms"], "the range '100:0:10ms' has no end"),
    (["run", "client_delay", "--vary", "rtt=-10:10:5ms"], "'-10' is negative in the range '-10:10:5ms', --vary rtt"),
    (["run", "client_delay", "--vary", "rtt=0:10:-1ms"], "'-1ms' is negative in the range '0:10:-1ms'"),
    (["run", "client_delay", "--vary", "rtt=0:1e2:5ms"], "'1e2' is not a number in the range '0:1e2:5ms'"),
    (["sweep", "client_delay", "--out", "new", "--vary", "rtt=-10:10:5ms"], "'-10' is negative in the range '-10:10:5ms'"),
    (["run", "client_delay", "--env", "nothing_of_the_kind"], "nothing_of_the_kind"),
    (["run", "client_delay", "--share", "/nothing"], "/nothing"),
    (["run", "nothing.yaml", "--tool", "ab", "--option", "url=http://web/"], "nothing.yaml: No such file"),
    (["run", "connection_pool", "--vary", "way=new, TSL"], "connection_pool has no way 'TSL'"),
    (["sweep", "client_delay", "--out", "new", "--vary", "rtt=10"], "duration '10' has no unit"),
    (["sweep", "client_delay", "--out", "new", "--vary", "rtt=0-100ms"], "such as 0:100:10ms"),
    (["sweep", "client_delay", "--out", "new", "--criterion", "nothing"], "nothing"),
    (["reproduce", "--only", "dealy"], "dealy"),
    (["check", "nothing.toml"], "cannot read nothing.toml"),
    (["check", "--key", "key.md", "nothing.toml"], "cannot read nothing.toml"),
    (["shell", "mininet", "nothing.py"], "no file 'nothing.py'"),
    (["shell", "nothing"], "no topology 'nothing'"),
    (["shell", "nothing.yaml"], "cannot read nothing.yaml"),
    (["why", "--topology", "two_hots", "--", "true"], "did you mean 'two_hosts'"),
    (["hunt", "client_dealy"], "did you mean 'client_delay'"),
    (["hunt", "replay", "nothing.toml"], "nothing.toml"),
    (["run", "client_delay", "--runs", "/dev/null"], "/dev/null is not a folder, --runs: name another folder"),
    (["run", "client_delay", "--runs", "/proc/runs"], "cannot write in /proc"),
    (["run", "client_delay", "--out", "markdown=/proc/x.md"], "cannot write in /proc"),
    (["reproduce", "--runs", "/dev/null/runs"], "/dev/null is not a folder, --runs"),
    (["sweep", "client_delay", "--vary", "rtt=0:20:10ms", "--out", "/dev/null"], "/dev/null is not a folder, --out"),
    (["sweep", "client_delay", "--vary", "rtt=0:20:10ms", "--out", "/proc/new"], "cannot write in /proc"),
    (["sweep", "client_delay", "--vary", "rtt=0:20:10ms", "--out", "new", "--merge", "old"], "old contains no sweep, --merge"),
    (["hunt", "replay", "/dev/null/x.toml"], "/dev/null/x.toml"),
    (["compare", "/dev/null", "/dev/null"], "/dev/null"),
    (["show", "/dev/null"], "/dev/null"),
    (["field", "shop.example"], "write it like http://shop.example"),
    (["field", "trace", "nothing.txt"], "nothing.txt"),
    (["doctor", "calibrate", "--only", "dely"], "did you mean 'delay'"),
    (["costs", "--expect", "redis-py/conect=6"], "did you mean 'connect'"),
    (["init", "/proc/new"], "cannot write the project"),
    (["shell", "star,x"], "write star,3, with a whole number"),
    (["shell", "two_hosts", "--link", "client-servr=LTE"], "did you mean 'client-server'"),
    (["shell", "two_hosts", "--link", "client-server=LTEE"], "did you mean 'LTE'"),
    (["shell", "compose", "nothing.yaml"], "cannot read nothing.yaml"),
    (["live", "star,x"], "write star,3, with a whole number"),
    (["live", "two_hots"], "did you mean 'two_hosts'"),
    (["live", "nothing.mn"], "cannot read nothing.mn"),
    (["live", "two_hosts", "--trace", "nothing"], "it cannot be read (No such file or directory), nothing"),
    (["live", "two_hosts", "--port", "99999"], "'--port'"),
    (["check", "mark", "--key", "nothing.toml", "a.toml"], "nothing.toml"),
    (["check", "grade", "ada", "--key", "nothing.toml"], "ada is not a directory"),
    (["check", "bundle", "mine.toml", "--key", "nothing.toml", "--for", "moodle"], "unknown kind 'moodle', --for: choose from"),
    (["lab", "import", "nothing.tar"], "cannot read nothing.tar"),
    (["lab", "image", "add", "nothing.tar"], "nothing.tar"),
    (["help", "lab bild"], "did you mean 'lab build'"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "named"), BEFORE_A_LAB, ids=lambda each: " ".join(each) if isinstance(each, list) else "")
def test_a_mistake_is_reported_where_no_lab_is_built(words, named, tmp_path, monkeypatch, capfd):
    def no_lab(*asked):
        raise LabError("the lab is not built")

    if words[0] == "hunt":
        pytest.importorskip("hypothesis")  # without it, that is what is reported
    monkeypatch.setattr(place, "_lab", no_lab)
    monkeypatch.setattr(place.native, "lacks", lambda: ["netem"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(words)
    out, err = capfd.readouterr()
    assert (caught.value.code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert named in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("way", ["new, TLS", '"new, TLS"'])
def test_a_value_with_a_comma_can_be_chosen(way):
    chosen = conditions([f"way={way}"])
    assert {cell["way"] for cell in find("connection_pool").cells(chosen)} == {"new, TLS"}


def test_a_range_stands_for_its_values():
    chosen = conditions(["rtt=0:30:10ms", "loss=0%,1%"])
    assert chosen == {"rtt": ["0ms", "10ms", "20ms", "30ms"], "loss": ["0%", "1%"]}
    assert conditions(["way=1-2", "image=nginx:1.25"]) == {"way": ["1-2"], "image": ["nginx:1.25"]}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("shop.py", "did you mean `slownet run shop.py`?"),
        ("shop.toml", "did you mean `slownet check shop.toml`?"),
        ("compose.yaml", "did you mean `slownet shell compose.yaml`?"),
    ],
)
def test_a_file_as_a_command_leads_to_the_command_that_takes_it(name, line, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).touch()
    with pytest.raises(SystemExit):
        main([name])
    assert capfd.readouterr().err == f"slownet: no command '{name}': {line}\n"


OF_A_SWEEP = [
    (["client_delay"], "--out"),
    (["client_dealy", "--out", "new"], "client_delay"),
    (["client_delay", "--out", "new", "--vary", "rt=1ms"], "'rtt'"),
    (["client_delay", "--out", "new", "--vary", "rtt=10"], "10ms"),
    (["client_delay", "--out", "new", "--vary", "rtt=0:1000:1ms", "--repeat", "200"], "--yes"),
    (["client_delay", "--out", "new", "--repeat", "0"], "--repeat"),
    (["client_delay", "--out", "sweep.toml/new"], "sweep.toml is not a folder, --out: name another folder"),
    (["sweep.toml", "--out", "new"], "did you mean 'repeat'"),
]


@pytest.mark.parametrize(("words", "named"), OF_A_SWEEP, ids=lambda each: " ".join(each) if isinstance(each, list) else "")
def test_a_mistake_in_a_sweep_is_one_line_and_makes_nothing(words, named, tmp_path, monkeypatch, capfd):
    (tmp_path / "sweep.toml").write_text('[sweep]\nexperiment = "client_delay"\nrepaet = 3\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(["sweep", *words])
    err = capfd.readouterr().err
    assert caught.value.code == 2, err
    assert len(err.splitlines()) == 1
    assert named in err
    assert [each.name for each in tmp_path.iterdir()] == ["sweep.toml"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--only", "dealy"], "'delay'"),
        (["--seed", "x"], "--seed"),
        (["--seed", "-1"], "--seed"),
        (["--clock", "real", "--tdf", "4"], "--tdf"),
        (["--place", "here"], "--place"),
    ],
)
def test_a_mistake_in_a_calibration_is_one_line(words, named, capfd):
    with pytest.raises(SystemExit) as caught:
        main(["doctor", "calibrate", *words])
    out, err = capfd.readouterr()
    assert (caught.value.code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert named in err
