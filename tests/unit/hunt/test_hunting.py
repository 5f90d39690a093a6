"""A hunt from its first schedule to its files, with labs that are a function of the schedule."""

import json

import pytest

from slownet import ConditionError, ExperimentError, LabError
from slownet.cli import hunt as command
from slownet.cli.app import main
from slownet.cli.replay import show_replayed
from slownet.hunt import bench, hunting, replaying, strategy
from slownet.hunt.bench import Example, Subject
from slownet.hunt.hunting import Hunt
from slownet.judge.records import measured_folder
from slownet.judge.records.sweep_samples import SCHEMA, sealed
from slownet.links import fault_file
from slownet.links.faults import Faults
from slownet.model.importing import Terminated
from slownet.runner.boot_store.task import Result
from slownet.runner.where import Where
from slownet.runner.workers import Threads

MINE = """
from slownet import TwoHosts, experiment, faults, no_lost_writes

@experiment(topology=TwoHosts, vary={"faults": ["none"]}, tdf="inf")
def mine(net, faults):
    '''Does it keep what it has?'''

mine.hunt(faults(["client", "server"], ["kill", "cut"], within="5s", services=["server"]), no_lost_writes("put", "read"))
"""


class Labs:
    """What takes the place of labs: loses a value if the server is killed from 2 s on."""

    def __init__(self):
        self.measured = []
        self.fails = self.breaks_off = ""
        self.how = KeyboardInterrupt()

    def __call__(self, task):
        words = task.cells[0]["faults"]
        self.measured.append(words)
        if self.breaks_off and self.breaks_off in words:
            self.breaks_off = ""
            raise self.how
        sample = {
            "status": "ok", "error": None, "index": 0, "block": 1, "cell": task.cells[0], "unit": task.units[0], "output": {},
        }  # fmt: skip
        if self.fails and self.fails in words:
            sample |= {"status": "failed", "error": "it does not start"}
            return Result((sample,), {}, "here")
        is_lost = any(str(each.action) == "kill server" and each.at >= 2 for each in Faults.parse(words).steps)
        events = [
            (1, "put", "invoke", 7),
            (2, "put", "ok", 7),
            (3, "read", "invoke", None),
            (4, "read", "ok", [] if is_lost else [7]),
        ]
        lines = [
            json.dumps({"time": time, "process": 0, "type": kind, "op": op, "value": value}) for time, op, kind, value in events
        ]
        sample["output"] = {"000-recorder.history.jsonl": ("\n".join(lines) + "\n").encode()}
        return Result((sample,), {}, "here")


@pytest.fixture
def labs(monkeypatch):
    found = Labs()
    monkeypatch.setattr(bench.task, "measure", lambda task: found(task))
    monkeypatch.setattr(bench.task, "place_of", lambda where, source: None)
    monkeypatch.setattr(
        hunting.planning, "described", lambda experiment, place: {"experiment": experiment.name, "clock": "real"}
    )
    monkeypatch.setattr(bench.identity, "circumstances", lambda source, place: {"experiment": "mine"})
    monkeypatch.setattr(hunting, "Pool", Threads)
    monkeypatch.setattr(hunting, "how_many", lambda wanted, place: wanted or 2)
    return found


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def hunt(mine, folder, **options):
    return Hunt(str(mine), folder, examples=60, **options)


def test_a_schedule_is_found_shrunk_saved_and_repeated(labs, mine, tmp_path):
    done = hunt(mine, tmp_path / "hunt").run()
    assert labs.measured[0] == "none"
    assert str(done.smallest.faults) == "kill server at 2 s; start server at 2.1 s"
    assert done.repeats == ""
    assert "kill server" in str(done.first.faults)
    planned = [str(each) for each in strategy.planned(Subject.of(str(mine), Where()).experiment.space, 1, 60)]
    assert planned[done.tried - 1] == str(done.first.faults)
    saved = fault_file.read(tmp_path / "hunt" / "found.toml")
    assert saved.faults == done.smallest.faults
    assert saved.found == {
        "experiment": str(mine),
        "violation": "1 of 1 acknowledged puts lost: 7 (acknowledged at 0.000 s) (no acknowledged put is lost)",
        "history_sha256": done.smallest.history.digest,
    }  # fmt: skip
    assert (tmp_path / "hunt" / "found.jsonl").read_text() == done.smallest.history.to_text()
    assert fault_file.read(tmp_path / "hunt" / "first.toml").faults == done.first.faults

    page = (tmp_path / "hunt" / "report.html").read_text()
    assert page.index("The smallest schedule that breaks it") < page.index("The schedule that broke it first")
    assert "It breaks: kill server at 2 s; start server at 2.1 s." in page
    assert "1 of 1 acknowledged puts lost" in page

    again = replaying.replay(tmp_path / "hunt" / "found.toml", None, Where(), times=2)
    assert [each.breaks for each in again.examples] == [True, True]
    assert again.differs == ("", "")
    (tmp_path / "hunt" / "found.jsonl").write_text(done.smallest.history.to_text().replace('"time": 2', '"time": 1'))
    (differs,) = replaying.replay(tmp_path / "hunt" / "found.toml", None, Where()).differs
    assert differs == "the same operations, but times differ by up to 1 ns"


def test_more_labs_find_the_same(labs, mine, tmp_path):
    one = hunt(mine, tmp_path / "one", labs=1).run()
    three = hunt(mine, tmp_path / "three", labs=3).run()
    assert (one.first.faults, one.smallest.faults, one.tried) == (three.first.faults, three.smallest.faults, three.tried)


def test_an_interrupted_hunt_goes_on_and_repeats_nothing(labs, mine, tmp_path):
    whole = hunt(mine, tmp_path / "whole", labs=1).run()
    order, labs.measured[:] = list(dict.fromkeys(labs.measured)), []
    for breaks_off in (order[2], order[-4]):
        labs.breaks_off = breaks_off
        with pytest.raises(KeyboardInterrupt):
            hunt(mine, tmp_path / "hunt", labs=1, resume=True).run()
    labs.breaks_off = ""
    done = hunt(mine, tmp_path / "hunt", labs=1, resume=True).run()
    assert done.smallest.faults == whole.smallest.faults
    repeated = {each for each in labs.measured if labs.measured.count(each) > 1}
    assert repeated <= {order[2], order[-4], str(done.smallest.faults)}  # those that broke off, and the boot that compares
    with pytest.raises(ExperimentError, match="has a hunt, --out: go on with --resume"):
        hunt(mine, tmp_path / "hunt").run()


@pytest.mark.parametrize("lost", [1, 0])
def test_a_hunt_that_came_to_its_end_is_not_hunted_again(labs, mine, tmp_path, monkeypatch, lost):
    """Hypothesis chooses others for the same seed if other modules are imported."""
    if not lost:
        mine.write_text(MINE.replace('within="5s"', 'within="1s"'))
    whole = hunt(mine, tmp_path / "hunt").run()
    assert bool(whole.smallest) == bool(lost)
    labs.measured[:] = []
    (tmp_path / "hunt" / "report.html").unlink()
    monkeypatch.setattr(strategy, "search", None)
    monkeypatch.setattr(strategy, "planned", None)
    done = hunt(mine, tmp_path / "hunt", resume=True).run()
    assert labs.measured == []
    assert (done.first, done.smallest, done.tried, done.repeats) == (whole.first, whole.smallest, whole.tried, whole.repeats)
    assert {str(each.faults) for each in done.examples} == {str(each.faults) for each in whole.examples}
    assert (tmp_path / "hunt" / "report.html").exists()


def test_a_hunt_goes_on_with_its_own_schedules_unless_others_are_asked_for(labs, mine, tmp_path):
    whole = Hunt(str(mine), tmp_path / "whole", examples=40, seed=7, labs=1).run()
    order, labs.measured[:] = list(dict.fromkeys(labs.measured)), []
    labs.breaks_off = order[2]
    with pytest.raises(KeyboardInterrupt):
        Hunt(str(mine), tmp_path / "hunt", examples=40, seed=7, labs=1).run()
    labs.breaks_off = ""
    done = Hunt(str(mine), tmp_path / "hunt", labs=1, resume=True).run()
    ahead = {str(each) for each in strategy.planned(Subject.of(str(mine), Where()).experiment.space, 7, 40)}
    assert (
        set(labs.measured) - ahead == set(order) - ahead
    )  # how far labs got ahead of the one that breaks it is a matter of chance
    assert (done.first.faults, done.smallest.faults, done.tried) == (whole.first.faults, whole.smallest.faults, whole.tried)
    assert Hunt(str(mine), tmp_path / "hunt", labs=1, resume=True, seed=8).run().first.faults != whole.first.faults


def test_a_hunt_is_a_run_whose_cells_are_its_schedules(labs, mine, tmp_path):
    done = hunt(mine, tmp_path / "hunt").run()
    run = measured_folder.load(tmp_path / "hunt")
    assert (run.experiment, run.facts["clock"]) == ("mine", "real")
    assert {cell.label["faults"] for cell in run.cells} == set(labs.measured)
    assert str(done.smallest.faults) in labs.measured


def test_the_folder_of_a_sweep_is_none_of_a_hunt_and_the_other_way_round(labs, mine, tmp_path, capsys):
    (tmp_path / "swept").mkdir()
    (tmp_path / "swept" / "sweep.json").write_bytes(sealed({"schema": SCHEMA, "spec": {}}))
    for resume in (False, True):
        with pytest.raises(ExperimentError, match="swept contains a sweep, --out: name another folder"):
            hunt(mine, tmp_path / "swept", resume=resume).run()
    hunt(mine, tmp_path / "hunt").run()
    with pytest.raises(SystemExit) as ended:
        main(["sweep", str(mine), "--out", str(tmp_path / "hunt"), "--resume"])
    assert ended.value.code == 2
    assert f"{tmp_path / 'hunt'} contains a hunt, --out: name another folder" in capsys.readouterr().err


def test_a_signal_ends_it_while_it_makes_a_schedule_small(labs, mine, tmp_path):
    hunt(mine, tmp_path / "whole", labs=1).run()
    order, labs.measured[:] = list(dict.fromkeys(labs.measured)), []
    labs.breaks_off, labs.how = order[-4], Terminated(143)
    with pytest.raises(Terminated):
        hunt(mine, tmp_path / "hunt", labs=1).run()
    assert labs.measured[-1] == order[-4]


def test_nothing_breaks(labs, mine, tmp_path):
    mine.write_text(MINE.replace('["kill", "cut"]', '["cut"]'))
    done = hunt(mine, tmp_path / "hunt").run()
    assert (done.first, done.smallest, done.repeats) == (None, None, None)
    assert done.tried == len(done.examples) - 1
    assert not (tmp_path / "hunt" / "found.toml").exists()
    page = (tmp_path / "hunt" / "report.html").read_text()
    assert f"Nothing broke it in {done.tried} schedules." in page
    assert "Without any fault" in page


def test_a_budget_without_a_unit_is_said_with_its_option(capsys):
    with pytest.raises(SystemExit):
        main(["hunt", "mine.py", "--budget", "60"])
    assert capsys.readouterr().err.startswith("slownet: duration '60' has no unit, --budget: ")


def test_a_budget_ends_it(labs, mine, tmp_path):
    done = hunt(mine, tmp_path / "hunt", budget_s=0).run()
    assert labs.measured == ["none"]
    assert done.is_over
    assert done.smallest is None


def test_it_breaks_without_any_fault(labs, mine, tmp_path, monkeypatch):
    mine.write_text(MINE.replace('no_lost_writes("put", "read")', 'lambda history: "always"'))
    done = hunt(mine, tmp_path / "hunt").run()
    assert done.smallest.faults == Faults(())
    assert fault_file.read(tmp_path / "hunt" / "found.toml").faults == Faults(())


def test_what_cannot_be_measured_is_no_violation_but_without_faults_a_mistake(labs, mine, tmp_path):
    labs.fails = "cut"
    done = hunt(mine, tmp_path / "hunt").run()
    assert str(done.smallest.faults) == "kill server at 2 s; start server at 2.1 s"
    assert any(each.error == "it does not start" for each in done.examples)
    labs.fails = "none"
    with pytest.raises(ExperimentError, match="mine fails without any fault: it does not start"):
        hunt(mine, tmp_path / "other").run()


def test_nothing_is_said_of_schedules_that_could_not_be_measured(labs, mine, tmp_path, capsys):
    labs.fails = "server"
    with pytest.raises(SystemExit) as ended:
        main(["hunt", str(mine), "--examples", "30", "--out", str(tmp_path / "hunt")])
    printed = capsys.readouterr().out
    assert ended.value.code == 1
    assert "nothing breaks in 0 schedules\n" in printed
    assert " schedules could not be measured, such as kill server at " in printed
    assert "it does not start" in printed
    assert "breaks tried" not in printed
    page = (tmp_path / "hunt" / "report.html").read_text()
    assert "Nothing broke it in 0 schedules. " in page
    assert " schedules could not be measured, such as kill server at " in page


def test_the_boot_that_compares_may_fail(labs, mine, tmp_path, monkeypatch):
    smallest, seen = "kill server at 2 s; start server at 2.1 s", []

    def measure(task):
        seen.append(task.cells[0]["faults"])
        labs.fails = smallest if seen.count(smallest) > 1 else ""
        return labs(task)

    monkeypatch.setattr(bench.task, "measure", measure)
    assert hunt(mine, tmp_path / "hunt").run().repeats == "it was not measured: it does not start"


def test_an_error_of_a_check_ends_the_hunt(labs, mine, tmp_path):
    mine.write_text(MINE.replace('no_lost_writes("put", "read")', "lambda history: 1 / 0 if len(history.operations) else None"))
    with pytest.raises(ExperimentError, match=r"the check '<lambda>' raises ZeroDivisionError"):
        hunt(mine, tmp_path / "hunt").run()


def test_a_boot_that_fails_is_tried_again(labs, mine, tmp_path, monkeypatch):
    left = ["kill server at 2 s; start server at 2.1 s"]

    def measure(task):
        if task.cells[0]["faults"] in left:
            left.remove(task.cells[0]["faults"])
            raise LabError("the lab died")
        return labs(task)

    monkeypatch.setattr(bench.task, "measure", measure)
    assert str(hunt(mine, tmp_path / "hunt").run().smallest.faults) == "kill server at 2 s; start server at 2.1 s"
    assert left == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MINE.partition("mine.hunt")[0], "it does not define what to hunt, experiment "),
        (
            MINE.replace('vary={"faults"', 'vary={"x"').replace("def mine(net, faults)", "def mine(net, x)"),
            "mine does not vary 'faults', hunt(), ",
        ),
        (MINE.replace(', no_lost_writes("put", "read"))', ")"), "nothing is checked, hunt(), "),
    ],
)
def test_a_file_that_says_nothing_of_a_hunt(mine, tmp_path, text, message):
    mine.write_text(text)
    with pytest.raises(ExperimentError) as caught:
        hunt(mine, tmp_path / "hunt").run()
    assert message in str(caught.value)


def test_a_replay_of_what_is_no_find(mine, tmp_path):
    path = tmp_path / "faults.toml"
    with pytest.raises(ConditionError, match="cannot be read"):
        replaying.replay(path, None, Where())
    path.write_text('[faults]\n"1s" = "kill db"\n')
    with pytest.raises(
        ExperimentError, match=r"names no experiment: name one after the file: slownet hunt replay FILE mine\.py"
    ):
        replaying.replay(path, None, Where())


def test_a_find_is_replayed_with_the_experiment_beside_it_after_both_were_moved(labs, mine, tmp_path):
    hunt(mine, tmp_path / "hunt").run()
    (repository := tmp_path / "repository").mkdir()
    found = (tmp_path / "hunt" / "found.toml").rename(repository / "found.toml")
    mine.rename(repository / "elsewhere")
    with pytest.raises(
        ExperimentError, match=r"no file .*mine\.py, .*: name it after the file: slownet hunt replay .*found\.toml mine\.py"
    ):
        replaying.replay(found, None, Where())
    (repository / "elsewhere").rename(repository / "mine.py")
    assert replaying.replay(found, None, Where()).examples[0].breaks


def test_a_replay_without_a_place_for_its_page_measures_nothing(labs, mine, tmp_path, capsys):
    hunt(mine, tmp_path / "hunt").run()
    labs.measured.clear()
    with pytest.raises(SystemExit) as ended:
        main(["hunt", "replay", str(tmp_path / "hunt" / "found.toml"), "--report", str(tmp_path / "none" / "page.html")])
    assert ended.value.code == 2
    assert f"no folder {tmp_path / 'none'}, --report: make it, or name another file" in capsys.readouterr().err
    assert labs.measured == []


def test_a_boot_that_could_not_be_measured_has_no_history(capsys):
    kill = Faults.parse({"1s": "kill server"})
    show_replayed(replaying.Replayed(kill, (Example(kill, error="no lab"),), ("",), False))
    assert capsys.readouterr().out == "kill server at 1 s\n  boot 1: no lab\n"


def test_what_is_printed(labs, mine, tmp_path, capsys):
    command.show(hunt(mine, tmp_path / "hunt").run())
    printed = capsys.readouterr().out
    assert "found by schedule" in printed
    assert "\n  kill server at 2 s; start server at 2.1 s\n" in printed
    assert "another boot gives the same history, digit for digit" in printed
    assert "breaks tried, by their begin" in printed
    assert "kill server" in printed.partition("by their begin")[2]
    show_replayed(replaying.replay(tmp_path / "hunt" / "found.toml", None, Where()))
    assert "the same history, digit for digit" in capsys.readouterr().out
    (tmp_path / "mine.toml").write_text('[faults]\n"1s" = "kill server"\n"2s" = "start server"\n')
    show_replayed(replaying.replay(tmp_path / "mine.toml", str(mine), Where(), times=2))
    printed = capsys.readouterr().out
    assert "boot 1: nothing breaks\n  boot 1: the first history (" in printed
    assert "boot 2: the same history, digit for digit" in printed


def test_an_interrupted_hunt_names_the_command_as_it_was_typed(labs, mine, tmp_path, capsys, monkeypatch):
    words = ["hunt", str(mine), "--seed", "7", "--env", "TOKEN=secret", "--out", str(tmp_path / "hunt")]
    monkeypatch.setattr("sys.argv", ["slownet", *words])
    Hunt(str(mine), tmp_path / "whole", seed=7, labs=1).run()
    labs.breaks_off = list(dict.fromkeys(labs.measured))[3]
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        main(words)
    asked = f"slownet hunt {mine} --seed 7 --env TOKEN --out {tmp_path / 'hunt'} --resume"
    assert f"examples are stored. Continue with: {asked}\n" in capsys.readouterr().err
