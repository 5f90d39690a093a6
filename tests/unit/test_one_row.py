"""A fault, a unit of time, a compose field and an option are one row each: added to the source, a row is known at every door.

They are tables from which others are made at import, so that the row is added before that, in a program of its own.
"""

import subprocess
import sys

ADD = """
import importlib.util, sys
from pathlib import Path

def add(module, *rows):
    spec = importlib.util.find_spec(module)
    assert module not in sys.modules, "others have read the table"
    source = Path(spec.origin).read_text()
    for after, row in zip(rows[::2], rows[1::2]):
        assert source.count(after) == 1
        source = source.replace(after, after + row)
    made = sys.modules[module] = importlib.util.module_from_spec(spec)
    exec(compile(source, spec.origin, "exec"), made.__dict__)
"""


def run(text):
    done = subprocess.run([sys.executable, "-c", ADD + text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


FAULT = """
add("slownet.links.faults", "_ROWS: Mapping[str, Verb] = {\\n", '''
    "flood": Verb(HOST, ("whole",), "are not whole", "flooded", "drain", "40%"),
''')
from slownet.links import fault_space, faults
from slownet.model.errors import ConditionError

read = faults.Faults.parse({"1s": "flood db 30%", "2s": "drain db"})
print(*(each.action for each in read.steps), sep=", ")
print("flood HOST 40%" in faults.HOW, "drain HOST" in faults.HOW)
print([kind for kind in fault_space.KINDS if "flood" in kind], "drain" in fault_space.REPAIRS)
space = fault_space.faults(["db"], kinds=["flood"], within="10s")
print(space.kinds)
for wrong in ("flood db", "flood db a lot", "drain"):
    try:
        faults.Faults.parse({"1s": wrong})
    except ConditionError as error:
        print(error.what)
"""


def test_a_fault_is_one_row():
    lines = run(FAULT).splitlines()
    assert lines[:4] == ["flood db 30%, drain db", "True True", "['flood'] True", "('flood 40%',)"]
    assert len(lines) == 7


AT_ONCE = """
add("slownet.links.faults", "_ROWS: Mapping[str, Verb] = {\\n", '''
    "drop-caches": Verb(SERVICE, ("runs", "paused"), "is dead", ""),
''')
from slownet.links import fault_space, faults
from slownet.links.fault_space import Break
from slownet.model.errors import ConditionError

for steps in ("pause db at 1s; drop-caches db at 2s; resume db at 3s", "kill db at 1s; drop-caches db at 2s"):
    try:
        read = faults.Faults.parse(steps)
        read.check(["db"], {"db": "redis-db"})
        print(*(each.action for each in fault_space.broken(read)), sep=", ")
    except ConditionError as error:
        print(error.what)
space = fault_space.faults(["db"], kinds=["drop-caches", "kill"], within="10s")
print(space.kinds, "drop-caches" in fault_space.REPAIRS)
print(space.of([Break(kind, ("db",), (), at, at + 1) for kind, at in (("drop-caches", 1), ("kill", 1.5), ("drop-caches", 2))]))
"""


def test_a_fault_that_is_over_at_once_is_one_row():
    assert run(AT_ONCE).splitlines() == [
        "pause db, drop-caches db",
        "'drop-caches db', but db is dead by then",
        "('kill', 'drop-caches') False",
        "drop-caches db at 1 s; kill db at 1.5 s; start db at 2.5 s",
    ]


UNIT = """
add("slownet.model.units", '    TimeUnit("w", Decimal(604800), None, ("w",), is_read=False),\\n',
    '    TimeUnit("fn", Decimal(1209600), 2419200.0, ("fn", "fortnight"), of_metrics=True),\\n')
from slownet.compose import casts
from slownet.hypotheses.answers import questions
from slownet.hypotheses.predictions import Prediction
from slownet.model import units

print(units.duration("2fn"), units.show_duration(3 * 1209600), casts.seconds("2fortnight"), units.milliseconds_of("wait_fn"))
print(units.unit_of("wait_fn"), units.spoken("wait_fn"), units.amount(4, "fn"))
(question,) = questions([Prediction("predicted", {"metric": "wait_fn", "expected": "?"})])
print(question.unit, question.number("4 fn"), question.number("672h"))
try:
    units.duration("4 xs")
except units.UnitError as error:
    print(error.fix)
"""


def test_a_unit_of_time_is_one_row():
    assert run(UNIT).splitlines() == [
        "2419200.0 3 fn 2419200.0 1209600000.0",
        "fn wait, fn 4 fn",
        "fn 4.0 2.0",
        "units are ns us ms s min h fn",
    ]


FIELD = """
add("slownet.compose.container_fields", "ROWS: Mapping[str, Row] = {\\n", '''
    "ready_within": Row(TEXT, "timeout", "the time until it must be ready", seconds, late={"": casts.duration}),
''')
import json, sys, tempfile
from pathlib import Path
from slownet.compose import fields, reader
from slownet.compose.hosting import Hosted
from slownet.compose.model import of_json
from slownet.compose.project_images import Ready
from slownet.model.errors import ComposeError

class Host:
    name, inNamespace = "web", False

    def IP(self):
        return "10.0.0.1"

folder = Path(tempfile.mkdtemp())
first, second = folder / "compose.yaml", folder / "more.yaml"
first.write_text("services: {old: {image: web, ready_within: 20s}, web: {extends: old}}")
second.write_text("services: {old: {ready_within: $TIME}}")
print("| `ready_within` | done | the time until it must be ready |" in fields.markdown())
project = reader.read([first, second], machine={"TIME": "1m30s"})
print(*(each.container["timeout"] for each in project.services))
again = of_json(json.loads(json.dumps(project.to_json())))
print(again == project, Hosted(Host(), again["old"], Ready("", (), False), [], folder).deadline_s)
for value in ("soon", "[20s]"):
    try:
        reader.read([first, second], machine={"TIME": value}) if value == "soon" else first.write_text(
            f"services: {{web: {{image: web, ready_within: {value}}}}}") and reader.read([first])
    except ComposeError as error:
        print(str(error).replace(str(folder), ""))
"""


def test_a_field_of_a_service_that_its_container_gets_is_one_row():
    assert run(FIELD).splitlines() == [
        "True",
        "90.0 20.0",
        "True 90.0",
        "services.old.ready_within is 'soon', /more.yaml:1:18: write it like 1m30s; units: w d h m s ms us ns",
        "services.web.ready_within is a list, not a text, /compose.yaml:1:30",
    ]


OPTION = """
add("slownet.runner.run_options", "    value: str | Texts\\n", "    colour: str | None\\n",
    "as a text or a list of texts each.", '''
    \"\"\"

    colour: str | None = field(
        default=None,
        metadata=stated("NAME", "The page's colour.", ("red", "blue"), kind="str, optional", doc="The colour of its page."),
    )
    \"\"\"''')
import inspect
import typer
import slownet
from slownet.api import calls
from slownet.cli import app
from slownet.model.errors import ExperimentError
from slownet.model.options import Option
from slownet.runner.run_request import RunRequest

found = next(each for each in typer.main.get_command(app.tree()).commands["run"].params if each.name == "colour")
print(found.opts, found.metavar, found.help)
print(inspect.signature(slownet.run).parameters["colour"])
print("    colour : str, optional\\n        The colour of its page.\\n" in slownet.run.__doc__)

def check(self):
    print(*self.words())
    raise ExperimentError("no such colour", Option("colour"), f"write {Option('colour').set('red')}")

RunRequest.check = check
for call in (lambda: slownet.run("client_delay", colour="green"), lambda: RunRequest(colour="green").check()):
    try:
        call()
    except ExperimentError as error:
        print(error)
"""


def test_an_option_of_a_run_is_one_field():
    assert run(OPTION).splitlines() == [
        "['--colour'] NAME The page's colour.",
        "colour: 'str | None' = None",
        "True",
        "slownet run client_delay --colour green",
        'no such colour, colour=: write colour="red"',
        "slownet run --colour green",
        "no such colour, --colour: write --colour red",
    ]


OPTION_OF_TESTS = """
add("slownet.runner.where", '    folder: str = ""\\n', '''
    colour: str | None = field(default=None, metadata=stated("NAME", "The lab's colour.", tests="Red by default."))
''')
from slownet.model.options import Option
from slownet.pytest_plugin import wishes

print([each for each in wishes.OPTIONS if "colour" in each[0]])
with wishes.option_names_here():
    print(Option("colour").set("red"))
"""


def test_an_option_of_tests_is_one_field():
    assert run(OPTION_OF_TESTS).splitlines() == [
        "[('--slownet-colour', 'NAME', \"The lab's colour. Red by default.\")]",
        "--slownet-colour red",
    ]
