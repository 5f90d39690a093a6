"""Mistakes in the words of a command: status 2 and one line that names what is meant, before anything is made."""

from types import SimpleNamespace

import pytest

from slownet.cli.app import main
from slownet.lab.run import place
from slownet.lab.run.clock import INF, Clock

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
    (["show", "/nowhere", "--at", "rtt=85ms,t0=12ms"], "/nowhere"),
    (["run", "--resume", "/nowhere"], "/nowhere"),
    (["run", "--resume", "/nowhere", "--repeat", "2"], "/nowhere"),
    (["run", "--resume", "/nowhere", "--repeat", "0"], "--repeat"),
    (["run", "--resume", "/nowhere", "--tdf", "inf"], "--tdf"),
    (["run", "nothing.py"], "nothing.py"),
    (["why"], "name a run or an experiment"),
    (["why", "nothing"], "no run here, in nothing"),
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
    (["why", "--compose", "nothing.yaml", "--", "true"], "nothing.yaml"),
    (["why", "client_delay", "more", "words"], "3 runs, RUN: name one, or two to compare; a command stands after --"),
    (["rnu"], "no command 'rnu': did you mean `slownet run`?"),
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
    (["client_delay", "--out", "sweep.toml/new"], "cannot write to sweep.toml/new, Not a directory, --out: name another"),
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
        main(["calibrate", *words])
    out, err = capfd.readouterr()
    assert (caught.value.code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert named in err
