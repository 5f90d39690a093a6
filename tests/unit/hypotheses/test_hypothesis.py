"""Hypothesis files: their content, and their mistakes with line and column."""

import json
import tomllib
from dataclasses import make_dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from slownet.classroom import class_marks, key
from slownet.hypotheses import file as hypothesis
from slownet.hypotheses import predictions
from slownet.hypotheses.answers import questions
from slownet.hypotheses.file import read
from slownet.hypotheses.predictions import COMPOSED, KINDS
from slownet.hypotheses.source import place_of
from slownet.judge import claim
from slownet.model.errors import ExperimentError
from slownet.services import in_files, nginx

EXERCISES = sorted((Path(__file__).parents[3] / "examples/exercises").glob("*.toml"))

WHOLE = """\
question = "Is it slow?"
topology = "star"
parameters = { n = 2 }
service = "nginx"
page = "30kB"
tool = "ab"

[options]
requests = 20

[conditions]
link = ["client1", "switch"]
rtt = ["0ms", "10ms"]
loss = "1%"

[[prediction]]
claim = "law"
metric = "time_per_request_ms"
round_trips = "?"

[[prediction]]
says = "Three times slower."
claim = "ratio"
metric = "time_per_request_ms"
at = { rtt = "10ms" }
expected = 3
"""


@pytest.fixture
def file(tmp_path):
    def make(text):
        path = tmp_path / "my hypothesis.toml"
        path.write_text(text)
        return path

    return make


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{ m = 2 }", "the topology takes no parameter 'm', .*:3:16: choose from n"),
        ("{ requests = 2 }", r"no parameter 'requests', .*:3:16: options of the tool stand in \[options\]"),
    ],
)
def test_a_parameter_that_the_topology_does_not_take(file, written, said):
    with pytest.raises(ExperimentError, match=said):
        read(file(WHOLE.replace("{ n = 2 }", written)))


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ('rtt = "15ms"', r"no cell at rtt 15ms, .*:21:3: the cells are rtt 0ms; rtt 10ms"),
        ('rt = "10ms"', r"no condition 'rt', .*:21:3: did you mean 'rtt'"),
        ('rtt = "0ms"', r"rtt 0ms is compared with itself, .*:21:3: name two cells"),
    ],
)
def test_a_prediction_about_cells_that_are_not_there_is_said_before_anything_is_measured(file, cell, said):
    with pytest.raises(ExperimentError, match=said):
        read(file(WHOLE.replace('at = { rtt = "10ms" }', f"at = {{ {cell} }}")))


def test_parameters_of_a_topology_that_takes_any(file):
    """Mininet's own take options of hosts; a subclass with a constructor of its own may take whatever it likes."""
    (own := file(WHOLE).parent / "mine.py").write_text(MAKERS)
    for name in ("Any", "Made", "make"):
        read(file(WHOLE.replace('"star"', f'"{own.name}:{name}"').replace("n = 2", "m = 2")))
    read(file(WHOLE.replace("n = 2", "n = 2, hopts = {}")))


MAKERS = """
from mininet.topo import Topo


class Any(Topo):
    def build(self, **options): ...


class Made(Topo):
    def __init__(self, m):
        super().__init__()


def make(m):
    return Topo()
"""


def test_a_file(file):
    found = read(file(WHOLE))
    assert (found.name, found.question, found.service, found.page) == ("my_hypothesis", "Is it slow?", "nginx", "30kB")
    assert (found.link, found.fixed, found.vary) == (("client1", "switch"), {"loss": "1%"}, {"rtt": ("0ms", "10ms")})
    first, second = found.predictions
    assert first.open == ("round_trips",)
    assert first.filled({"round_trips": 3.0}).claim() == claim.law("time_per_request_ms", round_trips=3.0)
    assert second.claim() == claim.ratio("time_per_request_ms", {"rtt": "10ms"}, expected=3)
    assert second.text == "Three times slower."


def test_it_is_an_experiment(file):
    experiment = read(file(WHOLE)).experiment()
    assert experiment.cells() == [{"rtt": "0ms"}, {"rtt": "10ms"}]
    assert len(experiment.topology().hosts()) == 3
    assert experiment.judged_by == []
    closed = read(file(WHOLE.replace('"?"', "3"))).experiment()
    assert [type(each) for each in closed.judged_by] == [claim.law, claim.ratio]


def test_an_open_prediction_is_not_a_claim(file):
    with pytest.raises(ExperimentError, match=r"round_trips is left to be predicted.*--blind"):
        read(file(WHOLE)).predictions[0].claim()


@pytest.mark.parametrize(
    ("old", "new", "where", "said"),
    [
        ("question =", "questoin =", ":1:1:", "did you mean 'question'?"),
        ("requests", "reqests", ":9:1:", "did you mean 'requests'?"),
        ("[options]", "[optoins]", ":8:2:", "did you mean 'options'?"),
        ("round_trips =", "  roundtrips =", ":19:3:", "did you mean 'round_trips'?"),
        ("expected = 3", "expectd = 3", ":26:1:", "did you mean 'expected'?"),
        ('claim = "ratio"', 'claim = "ration"', ":23:1:", "did you mean 'ratio'?"),
        ('tool = "ab"', 'tool = "aab"', ":6:1:", "did you mean 'ab'?"),
        ('"star"', '"stra"', ":2:1:", "did you mean 'star'?"),
        ('"nginx"', '"ngnix"', ":4:1:", "did you mean 'nginx'?"),
        ('"10ms"]', '"10"]', ":13:1:", "has no unit"),
        ('"10ms"]', "10]", ":13:1:", "in quotes"),
        ('loss = "1%"', 'los = "1%"', ":14:1:", "did you mean 'loss'?"),
        ('rtt = ["0ms", "10ms"]\n', "", ":12:1:", "no condition varies"),
        ('["0ms", "10ms"]', "[]", ":13:1:", "rtt has no values"),
        ('link = ["client1", "switch"]\n', "", ":11:2:", "conditions need a link"),
        ('service = "nginx"\npage = "30kB"\n', "", ":4:1:", "ab needs a service"),
        ('"30kB"', '"30k"', ":5:1:", "units are B kB"),
        ('"nginx"', '"wordpress"', ":5:1:", "page is for nginx only"),
        ('service = "nginx"\npage = "30kB"\n', 'service = "mariadb"\n', ":4:1:", "ab cannot measure mariadb"),
        ('"time_per_request_ms"', "5", ":18:1:", "write a text in quotes"),
        ('"?"', '"four"', ":19:1:", "write a number"),
        ('at = { rtt = "10ms" }', 'at = "10ms"', ":25:1:", "write a table such as"),
        ('claim = "ratio"', "", ":21:3:", "a prediction needs a claim"),
        ('metric = "time_per_request_ms"\nround', "round", ":17:1:", "law needs metric"),
        ("question =", "question", "", "(at line 1, column 10)"),
        ("expected = 3", "expected = 3\nwithin = 5", ":27:1:", "within is 5, a margin of 500 %"),
        ("expected = 3", "expected = 3\nwithin = 5", ":27:1:", "write 0.05 for 5 %"),
        ("expected = 3", "expected = nan", ":26:1:", "expected is nan"),
        ("expected = 3", "expected = 3\npublished = 4", ":26:1:", "a ratio of time_per_request_ms with two numbers"),
        ('round_trips = "?"', "round_trips = -4", ":19:1:", "round_trips is -4"),
        ('round_trips = "?"', 'round_trips = "?"\nwithin = 1.5', ":20:1:", "write 0.015 for 1.5 %"),
        ('round_trips = "?"', 'round_trips = "?"\nwithin = "?"', ":20:1:", "write the margin as a fraction"),
        ('round_trips = "?"', 'round_trips = "?"\nwithin = "5%"', ":20:1:", "write a fraction, such as 0.05 for 5 %"),
        ('["0ms", "10ms"]', '["10ms"]', ":16:3:", "a law takes two different delays"),
        ("requests = 20", 'requests = "ten"', ":9:1:", "requests is 'ten', "),
        ("requests = 20", "requests = 0", ":9:1:", "write a whole number from 1"),
        ("requests = 20", "requests = 2.5", ":9:1:", "write a whole number from 1"),
        ("requests = 20", "requests = true", ":9:1:", "write a whole number from 1"),
        ("requests = 20", "requests = [20]", ":9:1:", "write a whole number from 1"),
        ("requests = 20", 'varying = "no"', ":9:1:", "write true or false"),
    ],
)
def test_mistakes_are_one_line_with_the_place(file, old, new, where, said):
    assert old in WHOLE
    with pytest.raises(ExperimentError) as caught:
        read(file(WHOLE.replace(old, new, 1)))
    line = str(caught.value)
    assert where in line
    assert said in line
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize(
    ("tool", "service", "option", "said"),
    [
        ("ping", "", 'count = "ten"', "write a whole number from 1"),
        ("ping", "", 'interval = "1s"', "write a number of seconds from 0"),
        ("ping", "", "interval = nan", "write a number of seconds from 0"),
        ("iperf3", "", "seconds = 0", "write a number of seconds above 0"),
        ("iperf3", "", "congestion = 5", "write a text in quotes"),
        ("browse", "nginx", "timeout = true", "write a number of seconds above 0"),
        ("fetch", "nginx", "http = [2]", 'write a version, such as "2"'),
        ("sysbench", "mariadb", "threads = -1", "write a whole number from 1"),
    ],
)
def test_an_option_of_another_kind_than_the_tool_takes_is_refused_before_a_lab_boots(file, tool, service, option, said):
    named = f'tool = "{tool}"\n' + (f'service = "{service}"\n' if service else "")
    text = WHOLE.replace('service = "nginx"\npage = "30kB"\ntool = "ab"\n', named).replace("requests = 20", option)
    with pytest.raises(ExperimentError, match=f"{option.split()[0]} is .*: {said}"):
        read(file(text))


def test_a_version_may_be_written_as_a_number(file):
    for tool, value in [("fetch", "http = 2"), ("browse", "http = 1.1"), ("fetch", 'tls = "1.3"')]:
        read(file(WHOLE.replace('tool = "ab"', f'tool = "{tool}"').replace("requests = 20", value)))


def test_faults_of_a_file_can_break_nginx(tmp_path, monkeypatch):
    started = []

    class Started:
        url = "http://10.0.0.2/"

        def __init__(self, host, directory, root):
            started.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *error): ...

    monkeypatch.setattr(nginx, "Nginx", Started)
    monkeypatch.setattr(nginx.owner, "directory", lambda: tmp_path)
    net = type("Net", (dict,), {"hosts": [SimpleNamespace(name="web")]})(web="web")
    with in_files.SERVICES["nginx"](net, tmp_path, "1kB") as page:
        assert hypothesis._can_break(page)
        assert page.servers == tuple(started)


CROSSED = """
[[prediction]]
claim = "all_of"
claims = [
    { claim = "bound", metric = "time_per_request_ms", at_least = "60ms", at_most = "40ms" },
]
"""


class Star:
    """A network with a switch and one host, client1."""

    def __getitem__(self, name):
        if name not in ("client1", "switch"):
            raise ExperimentError(f"no host '{name}' in Star", fix="did you mean 'client1'?")
        return name

    def link(self, first, second):
        return self[first], self[second]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('["client1", "switch"]', '["cleint1", "switch"]', ":12:1"),
        ('["client1", "switch"]', '["client1", "swich"]', ":12:1"),
        ("requests = 20", 'requests = 20\nfrom = "cleint"', ":10:1"),
    ],
)
def test_what_the_network_does_not_have_has_its_place_in_the_file(file, old, new, where):
    path = file(WHOLE.replace(old, new))
    with pytest.raises(ExperimentError) as caught:
        read(path).experiment().measure(Star(), None, rtt="0ms")
    assert caught.value.what.startswith("no host '")
    assert caught.value.where == f"{path}{where}"
    assert caught.value.fix == "did you mean 'client1'?"


def test_an_empty_range_has_its_place_in_the_error(file):
    with pytest.raises(ExperimentError, match=r"at_least 60ms is more than at_most 40ms, .*:31:75: nothing lies in between"):
        read(file(WHOLE + CROSSED))
    bound = '\n[[prediction]]\nclaim = "bound"\nmetric = "x"\nat = { rtt = "10ms" }\nat_least = 60\nat_most = 40\n'
    with pytest.raises(ExperimentError, match=r"at_least 60 is more than at_most 40, .*:33:1: nothing lies in between"):
        read(file(WHOLE + bound))


def test_an_open_range_is_as_wide_as_possible_for_the_key(file):
    text = WHOLE + '\n[[prediction]]\nclaim = "bound"\nmetric = "x"\nat_least = 5\nat_most = "?"\n'
    last = read(file(text)).predictions[-1]
    assert last.open == ("at_most",)
    assert last.blank.claim().at_most > 1e6
    assert last.filled({"at_most": 7.0}).claim().at_most == 7.0


def test_places_of_keys():
    assert place_of(WHOLE, ("tool",)) == (6, 1)
    assert place_of(WHOLE, ("prediction", 1, "at")) == (25, 1)
    assert place_of(WHOLE, ("prediction", 1, "at", "rtt")) == (25, 8)
    assert place_of(WHOLE, ("parameters", "n")) == (3, 16)
    assert place_of(WHOLE, ("nothing",)) == (1, 1)


NESTED = """\
a.b = 1  # a.c = 2
text = \"\"\"
a.d = 3 [[x]]
\"\"\"
list = [ { c = [1, 2] }, "c = 1", [
    { c = '}' , d.e = 1979-05-27T07:32:00Z }, 0.5,
] ]
[[x]]
[[x]]
y = 1
[[x.z]]
"a b" = 1
[[x.z]]
c = -1.5e3
[x.w]
c = { }
"""


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        (("a",), (1, 1)),
        (("a", "b"), (1, 1)),
        (("a", "d"), (1, 1)),
        (("list", 0), (5, 10)),
        (("list", 0, "c", 1), (5, 20)),
        (("list", 2, 0, "c"), (6, 7)),
        (("list", 2, 0, "d", "e"), (6, 17)),
        (("list", 2, 1), (6, 47)),
        (("x",), (8, 3)),
        (("x", 1), (9, 3)),
        (("x", 1, "y"), (10, 1)),
        (("x", 1, "z", 0, "a b"), (12, 1)),
        (("x", 1, "z", 1, "c"), (14, 1)),
        (("x", 1, "w", "c"), (16, 1)),
        (("x", 1, "w", "missing"), (15, 2)),
    ],
    ids=str,
)
def test_places_of_nested_keys(keys, place):
    assert tomllib.loads(NESTED)
    assert place_of(NESTED, keys) == place


HEAD = WHOLE.split("[[prediction]]")[0].replace('"10ms"]', '"10ms", "40ms"]')
METRIC = "time_per_request_ms"
FAR = {"rtt": "10ms"}
WRITTEN = {
    "ratio": (
        'at = { rtt = "10ms" }\nof = { rtt = "0ms" }\nat_least = 3.5',
        claim.ratio(METRIC, FAR, of={"rtt": "0ms"}, at_least=3.5),
    ),
    "predicted": (
        'at = { rtt = "10ms" }\nexpected = 30\nwithin = 0.1',
        claim.predicted(METRIC, FAR, expected=30, within=0.1),
    ),
    "round_trips_between": (
        'at = { rtt = "10ms" }\nof = { rtt = "0ms" }\nbecause = "slow start"\nexpected = 3',
        claim.round_trips_between(METRIC, FAR, of={"rtt": "0ms"}, because="slow start", expected=3),
    ),
    "more_round_trips": (
        'at_least = 5\nof = "client_delay"\notherwise = 4',
        claim.more_round_trips(METRIC, at_least=5, of="client_delay", otherwise=4),
    ),
    "published_times": (
        't0_ms = 12.5\ntimes_ms = { "10ms" = 51.8 }',
        claim.published_times(METRIC, t0_ms=12.5, times_ms={"10ms": 51.8}),
    ),
    "constant_round_trips": ('at = ["10ms", "40ms"]', claim.constant_round_trips(METRIC, at=("10ms", "40ms"))),
    "bound": ('at_most = "300ms"\npercentile = 99', claim.bound(METRIC, at_most="300ms", percentile=99)),
    "bound of a cell": (
        'at = { rtt = "10ms" }\nat_least = 20\nat_most = 30',
        claim.bound(METRIC, FAR, at_least=20, at_most=30),
    ),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_kinds_of_claims(file, kind):
    fields, made = WRITTEN[kind]
    (found,) = read(file(f'{HEAD}[[prediction]]\nclaim = "{kind.split()[0]}"\nmetric = "{METRIC}"\n{fields}\n')).predictions
    assert found.claim() == made


@pytest.mark.parametrize("kind", sorted({*KINDS, *COMPOSED}))
def test_every_kind_says_what_it_needs(file, kind):
    with pytest.raises(ExperimentError, match=rf"^{kind} needs .*:17:1: "):
        read(file(f'{HEAD}[[prediction]]\nclaim = "{kind}"\n'))


COMPOSITE = """\
[[prediction]]
claim = "all_of"
claims = [
    { claim = "bound", metric = "m_ms", at_most = 9 },
    { claim = "not", claims = [{ claim = "grows", metric = "m_ms" }] },
]
"""


def test_claims_made_of_claims(file):
    (found,) = read(file(HEAD + COMPOSITE)).predictions
    inner = claim.bound("m_ms", at_most=9), claim.not_(claim.grows("m_ms"))
    assert found.claim() == claim.all_of(*inner)
    assert found.text == "all_of: bound: metric m_ms, at_most 9; not: grows: metric m_ms"
    assert json.loads(json.dumps(found.fields)) == found.fields
    written = '[[prediction]]\nclaim = "any_of"\n[[prediction.claims]]\nclaim = "grows"\nmetric = "m_ms"\n'
    assert read(file(HEAD + written)).predictions[0].claim() == claim.any_of(claim.grows("m_ms"))


@pytest.mark.parametrize(
    ("old", "new", "where", "said"),
    [
        ("at_most", "at_mots", ":19:41:", "did you mean 'at_most'?"),
        ('"grows", metric', '"grows", metrc', ":20:51:", "did you mean 'metric'?"),
        ('"grows"', '"grow"', ":20:34:", "did you mean 'grows'?"),
        (
            '{ claim = "grows", metric = "m_ms" }',
            '{ claim = "law", metric = "m_ms", round_trips = "?" }',
            ":20:66:",
            "within not",
        ),
        ('[{ claim = "grows", metric = "m_ms" }]', "[]", ":20:7:", "not needs claims"),
        ('[{ claim = "grows", metric = "m_ms" }]', '["grows"]', ":20:32:", "a claim must be a table"),
        ('"m_ms" }]', '"m_ms" }, { claim = "grows", metric = "m_ms" }]', ":20:22:", "not takes one claim, here are 2"),
    ],
)
def test_mistakes_in_claims_made_of_claims(file, old, new, where, said):
    assert old in COMPOSITE
    text = HEAD + COMPOSITE.replace(old, new, 1)
    with pytest.raises(ExperimentError) as caught:
        read(file(text))
    assert where in str(caught.value)
    assert said in str(caught.value)


def test_sysbench_measures_a_database(file):
    text = WHOLE.replace('"nginx"', '"mariadb"').replace('"ab"', '"sysbench"').replace('page = "30kB"\n', "")
    found = read(file(text.replace("requests = 20", "threads = 2\ntransactions = 30\nrows = 100")))
    assert (found.service, found.tool, dict(found.options)) == (
        "mariadb", "sysbench", {"threads": 2, "transactions": 30, "rows": 100},
    )  # fmt: skip
    with pytest.raises(ExperimentError, match=r"unknown key 'requests'.*:8:1: "):
        read(file(text))


def test_there_are_twelve_exercises():
    assert len(EXERCISES) == 12


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_every_exercise_asks_or_claims(path):
    found = hypothesis.read(path)
    assert found.question.endswith("?")
    for each in found.predictions:
        assert each.says
        assert callable(each.filled(dict.fromkeys(each.open, 1.0)).claim().judge)


def test_the_key_answers_every_exercise():
    key = (EXERCISES[0].parent / "teacher" / "KEY.md").read_text()
    for path in EXERCISES:
        section = key[key.index(f"## {path.name}") :].split("\n## ")[0]
        for each in hypothesis.read(path).predictions:
            assert each.says.rstrip(".:") in section
            assert all(f"{name} = " in section for name in each.open)


def test_every_exercise_has_a_page_and_solutions_that_fit_the_class():
    folder = EXERCISES[0].parent
    pages = folder.parents[1] / "docs" / "classroom"
    names = {path.stem for path in (*EXERCISES, *(folder / "variants").glob("*_*.toml"), *(folder / "code").glob("*_*"))}
    assert names | {"index", "solutions"} == {path.stem for path in pages.glob("*.md")}
    solved = key.read(folder / "teacher" / "key.toml")
    asked = {path.stem: [each.name for each in questions(hypothesis.read(path).predictions)] for path in EXERCISES}
    assert {each.name: [one.name for one in each.solutions] for each in solved} == {k: v for k, v in asked.items() if v}
    marked = class_marks.mark(sorted((folder / "class").glob("*.toml")), solved)
    most = sum(map(len, asked.values()))
    assert {name: marked.points(name) for name in marked.students} == {"Ada Lovelace": most, "Charles Babbage": 3}


def test_faults_in_a_file(file):
    table = '[faults]\n"1s" = "kill server"\n"2s" = ["start server", "cut server from client1"]\n\n'
    whole = WHOLE.replace("[[prediction]]", f"{table}[[prediction]]", 1)
    assert str(read(file(whole)).faults) == "kill server at 1 s; start server at 2 s; cut server from client1 at 2 s"
    assert read(file(WHOLE)).faults is None
    with pytest.raises(ExperimentError, match=r"'explode server' is not a fault, .*hypothesis\.toml:17:1"):
        read(file(whole.replace("kill server", "explode server")))
    with pytest.raises(ExperimentError, match="faults is not a table"):
        read(file(f"faults = 5\n{WHOLE}"))


NO_SERVICE = WHOLE.replace('service = "nginx"\npage = "30kB"\ntool = "ab"', 'tool = "ping"').replace(
    "requests = 20", "count = 2"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            WHOLE.replace('rtt = ["0ms", "10ms"]', 'condition = ["LTE", "3G"]').replace("at = { rtt", "at = { condition"),
            "a hypothesis file takes no named conditions, FILE:13:1: write its fields, such as rtt = [",
        ),
        (
            WHOLE.replace('tool = "ab"', 'tool = "ab"\nunit = "s"'),
            "ab states its own units, FILE:7:1: leave unit out: it is for numbers of a tool of your own",
        ),
        (
            NO_SERVICE.replace("[conditions]", '[faults]\n"1s" = "kill web"\n\n[conditions]'),
            """'kill web', but the file starts no service, FILE:10:1: write service = "nginx", or another""",
        ),
        (WHOLE.replace('question = "Is it slow?"\n', ""), "question is missing, FILE:1:1: "),
        (WHOLE.replace("Is it slow?", ""), "question is empty, FILE:1:1: "),
    ],
)
def test_what_no_file_can_have_is_said_before_a_lab_boots(file, text, message):
    with pytest.raises(ExperimentError) as caught:
        read(file(text))
    assert str(caught.value).replace(str(file(text)), "FILE").startswith(message)


def test_faults_of_hosts_need_no_service(file):
    cut = NO_SERVICE.replace("[conditions]", '[faults]\n"1s" = "cut server from client1"\n\n[conditions]')
    assert read(file(cut)).faults


def test_a_claim_whose_types_only_a_type_checker_finds_is_one_line(file, monkeypatch):
    odd = make_dataclass("odd", [("metric", "str"), ("limit", "OnlyForTypeCheckers")], frozen=True)
    monkeypatch.setattr(predictions, "KINDS", {**KINDS, "odd": odd})
    said = r"odd has a field of an unknown type: .*OnlyForTypeCheckers.*:17:1: import the type outside of TYPE_CHECKING$"
    with pytest.raises(ExperimentError, match=said):
        read(file(WHOLE.replace('claim = "law"', 'claim = "odd"')))


PROJECT = "name: shop\nservices:\n  web:\n    image: web:1\n    ports: ['8000']\n"
OF_PROJECT = """\
question = "How many round trips is a page of the shop?"
topology = "compose.yaml"
tool = "fetch"
[options]
url = "http://web:8000/"
[conditions]
link = ["web", "switch"]
rtt = ["0ms", "40ms"]
[[prediction]]
claim = "law"
metric = "time_per_request_ms"
round_trips = 2
"""


def test_a_tool_of_slownets_measures_a_compose_projects_service_by_its_address(file, tmp_path):
    (tmp_path / "compose.yaml").write_text(PROJECT)
    assert read(file(OF_PROJECT)).options == {"url": "http://web:8000/"}


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ('url = "http://web:8000/"\n', "", r'fetch needs the address of a service, .*3:1: write url = "http://web:8000/" into'),
        ("http://web:8000/", "http://wbe:8000/", r"no host 'wbe' in shop, .*5:1: did you mean 'web'"),
        ('"http://web:8000/"', '"web:8000"', r"url is 'web:8000', .*5:1: write url = "),
        ('"http://web:8000/"', "8000", r"url is 8000, .*5:1: write url = "),
        ('"compose.yaml"', '"client_web_db"', r"fetch needs a service, .*3:1: choose from nginx"),
    ],
)
def test_an_address_that_leads_nowhere_is_one_line_with_its_place(file, tmp_path, before, after, line):
    (tmp_path / "compose.yaml").write_text(PROJECT)
    with pytest.raises(ExperimentError, match=line):
        read(file(OF_PROJECT.replace(before, after, 1)))
