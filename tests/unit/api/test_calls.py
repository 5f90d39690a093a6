"""`slownet.run`, `slownet.load` and `slownet.compare`: their options, and what a mistake says. No lab is booted."""

import inspect
import json
import os
from pathlib import Path

import pytest
import typer

import slownet
from slownet.api import calls
from slownet.cli import app as cli
from slownet.hypotheses.experiment import experiment
from slownet.judge.records.samples import SampleLog, write_run_json
from slownet.runner.boot_store.sweep_store import Store
from slownet.runner.run_request import RunRequest

MEANS = {"0ms": 10.0, "10ms": 50.0, "40ms": 170.0}
FOR_THE_TERMINAL = {"explain_clock", "out", "help"}


def saved(directory, means=MEANS, **facts):
    """Save a run as `slownet run` does."""
    with SampleLog(directory) as log:
        for index, (rtt, mean) in enumerate(means.items()):
            metrics = {"time_per_request_ms": {"mean": mean, "sd": 0.1, "n": 100}}
            log.append({
                "experiment": "shop", "cell": {"rtt": rtt}, "condition": {"rtt_ms": float(rtt[:-2])}, "index": index,
                "status": "ok", "error": None, "metrics": metrics, "boot": 1,
            })  # fmt: skip
    whole = {"experiment": "shop", "question": "is <10 ms> a lot? 遅い?", "clock": "virtual", "tdf": "inf"} | facts
    write_run_json(directory, whole)
    return directory


@pytest.fixture
def asked(monkeypatch):
    """Call slownet.run(...) up to where it would plan, and return the options that it understood."""

    def ask(*given, **options):
        found = []

        def plans(self):
            found.append(self)
            raise slownet.LabError("no lab in this test")

        monkeypatch.setattr(RunRequest, "plans", plans)
        with pytest.raises(slownet.LabError, match="no lab in this test"):
            slownet.run(*given, **options)
        return found[0]

    return ask


def test_its_options_are_those_of_the_command():
    command = typer.main.get_command(cli.tree()).commands["run"]
    names = [each.opts[0] for each in command.params if each.opts[0].startswith("--")]
    of_the_command = {each.removeprefix("--").replace("-", "_") for each in names}
    of_the_call = set(inspect.signature(slownet.run).parameters)
    named = {"experiment", "compose", "progress"}  # the first two are arguments of the command
    assert of_the_call - named == of_the_command - FOR_THE_TERMINAL


def test_a_call_is_a_command_line(asked):
    options = {
        "vary": {"rtt": ["0ms", "25ms"], "loss": "0%,1%"}, "tdf": 4, "repeat": 3, "budget": "30,10m", "labs": 2,
        "capture": True, "env": {"QUERIES": "6"}, "share": ["data", Path("more:rw")], "memory": 512, "runs": "there",
        "place": "confined",
    }  # fmt: skip
    words = (
        "slownet run mine.py --vary rtt=0ms,25ms --vary loss=0%,1% --repeat 3 --budget 30,10m --runs there --capture hosts "
        "--labs 2 --tdf 4 --memory 512 --place confined --env QUERIES=6 --share data --share more:rw"
    )
    assert asked(Path("mine.py"), **options).words() == words.split()
    assert asked("client_delay").words() == ["slownet", "run", "client_delay"]
    assert asked("client_delay", tdf=float("inf")).tdf == "inf"
    assert asked("client_delay", vary={"rtt": 25, "loss": None}).vary == ["rtt=25", "loss="]
    composed = asked(compose="shop", tool="ab", option={"url": "http://web/", "requests": 5})
    words = "shop --tool ab --option url=http://web/ --option requests=5"
    assert " ".join(composed.words()[2:]) == words


def test_an_experiment_is_named_by_its_name_or_its_file(asked, tmp_path):
    from slownet.experiments.client_delay import client_delay
    from slownet.model.importing import file

    text = inspect.getsource(inspect.getmodule(client_delay.measure)).replace("def client_delay", "def mine")
    (tmp_path / "mine.py").write_text(text.replace("client_delay.claims", "mine.claims"))
    assert asked(client_delay).experiments == ["client_delay"]
    assert asked(file(tmp_path / "mine.py", "").mine).experiments == [str(tmp_path / "mine.py")]


def test_an_experiment_in_no_file_is_one_line():
    made = {"__name__": "__main__"}
    exec(compile("def mine(net, rtt): return {}", "/tmp/ipykernel_1/2.py", "exec"), made)
    with pytest.raises(slownet.ExperimentError, match=r"mine is in no file that a lab could import.*%%writefile"):
        slownet.run(experiment(topology="two_hosts", vary={"rtt": ["0ms"]})(made["mine"]))


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"resume": "runs/x", "tdf": 4}, "a resumed run keeps its clock, resume=: leave out clock=, tdf= and cpu="),
        ({"resume": "runs/x", "vary": {"rtt": "0ms"}}, "a resumed run keeps its plan, resume="),
        ({"experiment": "client_delay", "repeat": 0}, "invalid number of repetitions '0', repeat=: write a whole number"),
        ({"experiment": "client_delay", "labs": "many"}, "invalid number of labs 'many', labs="),
        ({"experiment": "client_delay", "vary": "rtt=0ms"}, "vary is 'rtt=0ms', in slownet.run(): give a dict: vary={"),
        ({"experiment": "client_delay", "env": ["A=1"]}, "env is ['A=1'], in slownet.run(): give a dict"),
        ({"experiment": "client_delay", "repeat": [2]}, "invalid number of repetitions '[2]', repeat=: write a whole number"),
        ({"experiment": "client_delay", "memory": "1500"}, "'1500' is not a whole number of MB, memory=: give it 160 or more"),
        ({"experiment": "client_delay", "memory": None}, "None is not a whole number of MB, memory="),
        (
            {"experiment": "client_delay", "clock": "exact:x"},
            "invalid number of instructions in a nanosecond, 'x', clock=\"exact\": write exact:N",
        ),
        (
            {"experiment": "client_delay", "clock": "real:3"},
            'only the exact clock has a number of instructions in a nanosecond, clock="real:3": write real, or exact:3',
        ),
    ],
)
def test_a_mistake_is_one_line(options, line):
    with pytest.raises(slownet.SlownetError) as error:
        slownet.run(**options)
    assert str(error.value).startswith(line)
    assert error.value._render_traceback_() == [f"{type(error.value).__name__}: {error.value}"]


def test_the_callers_environment_stays(monkeypatch):
    monkeypatch.setenv("KEPT", "before")
    monkeypatch.delenv("NEW", raising=False)
    with calls.restored({"KEPT": "", "NEW": ""}):
        os.environ.update(KEPT="within", NEW="within")
    assert (os.environ["KEPT"], os.environ.get("NEW")) == ("before", None)


# ---- load ----


def test_a_run_is_read_from_its_directory_or_its_file(tmp_path):
    directory = saved(tmp_path / "a run, 遅い")
    for path in (directory, str(directory), directory / "run.json"):
        run = slownet.load(path)
        assert (run.experiment, len(run.cells), run.law.k.mean) == ("shop", 3, pytest.approx(4))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"claims": [{}], "slownet": "99.1"}', "slownet 99.1 wrote them: upgrade"),
        (f'{{"claims": [{{}}], "slownet": "{slownet.__version__}"}}', "they are damaged: measure again"),
        ('{"claims": [{}]}', "they are damaged, or of a newer slownet"),
        ("[1, 2]", "they are damaged, or of a newer slownet"),
        ('{"published": 3, "slownet": "99.1"}', "slownet 99.1 wrote them"),
        ("{", ": it is damaged: measure again, or restore it from a copy"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path, text, line):
    directory = saved(tmp_path / "run")
    (directory / "run.json").write_text(text)
    with pytest.raises(slownet.SlownetError) as error:
        slownet.load(directory)
    assert line in str(error.value)
    assert str(directory) in str(error.value)


def test_no_run_is_one_line(tmp_path):
    with pytest.raises(slownet.SlownetError, match="no run here"):
        slownet.load(tmp_path)


def test_a_sweep_is_a_run_with_more_cells(tmp_path):
    """slownet.load said of its folder that there is no run here."""
    sweep = tmp_path / "sweep"
    with Store(sweep) as store:
        store.describe({"facts": {"experiment": "shop", "clock": "virtual", "tdf": "inf"}})
        for rtt in reversed(MEANS):
            sample = {
                "experiment": "shop", "cell": {"rtt": rtt}, "condition": {"rtt_ms": float(rtt[:-2])}, "index": 0,
                "metrics": {"time_per_request_ms": {"mean": MEANS[rtt], "sd": 0.1, "n": 100}},
                "status": "ok", "boot": 1, "block": 1, "unit": rtt, "output": {},
            }  # fmt: skip
            store.append([[sample]])
        while_it_is_measured = slownet.load(sweep)
    for run in (while_it_is_measured, slownet.load(sweep), slownet.load(sweep / "sweep.json")):
        assert (run.experiment, [cell.label["rtt"] for cell in run.cells]) == ("shop", [*MEANS])
        assert run.law.k.mean == pytest.approx(4)
    (sweep / "sweep.json").write_text("{")
    with pytest.raises(slownet.SlownetError, match=r"cannot read \S+sweep\.json"):
        slownet.load(sweep)


def test_a_baseline_is_a_run(tmp_path):
    from slownet.comparison import baseline

    baseline.save(saved(tmp_path / "run"), tmp_path / "baseline.json")
    assert len(slownet.load(tmp_path / "baseline.json").cells) == 3


# ---- compare ----


def test_runs_and_paths_are_compared_alike(tmp_path):
    first = saved(tmp_path / "first")
    second = saved(tmp_path / "second", {rtt: 1.5 * mean for rtt, mean in MEANS.items()})
    found = [slownet.compare(first, second), slownet.compare(slownet.load(first), slownet.load(second))]
    assert {each.outcome.word for each in found} == {"worse"}
    assert json.dumps(found[0].to_json()) == json.dumps(found[1].to_json())
    assert slownet.compare(second, first, fail_if_slower="5%").outcome.word == "no slower"
    assert [row.condition for row in slownet.compare(first, second, at={"rtt": "10ms"}).rows] == ["rtt 10ms"]


def test_where_runs_are_compared_is_a_dict(tmp_path):
    directory = saved(tmp_path / "run")
    with pytest.raises(slownet.ExperimentError, match=r"at is 'rtt=0ms', in slownet.compare\(\): give a dict: at="):
        slownet.compare(directory, directory, at="rtt=0ms")
    assert slownet.compare(directory, directory, metric=None).outcome.word == "equal"


def test_what_two_runs_do_not_need_is_named_as_an_argument(tmp_path):
    directory = saved(tmp_path / "run")
    with pytest.raises(slownet.SlownetError, match=r"T0 applies to the field measurement, t0=: give it with a run and a field"):
        slownet.compare(directory, directory, t0="3ms")
