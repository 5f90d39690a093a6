"""What is named by a module's name is that module: commands, and programs that are started."""

import re
from collections import Counter
from pathlib import Path

import slownet
from slownet.cli.app import COMMANDS


def test_each_program_that_is_started_by_its_name_is_there():
    here = Path(slownet.__file__).parent
    texts = [path.read_text() for folder in (here, here.parents[1] / "experiments") for path in folder.rglob("*.py")]
    for room in ("tools", "reproductions"):
        imports = re.compile(rf"from slownet\.{room}\.program import (?:\w+, )*python\b")
        started = {name for text in texts if imports.search(text) for name in re.findall(r'\bpython\("(\w+)"', text)}
        assert len(started) > 2
        assert [name for name in sorted(started) if not (here / room / "programs" / f"{name}.py").is_file()] == []


def test_a_command_is_a_file_of_its_name():
    assert {name: each.module for name, each in COMMANDS.items() if each.module != name} == {}
    assert all((Path(slownet.__file__).parent / "cli" / f"{name}.py").is_file() for name in COMMANDS)


def test_no_two_files_of_unit_tests_have_one_name():
    """Pytest imports them by their basename: the second one would be an error of the whole run."""
    counts = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, count in counts.items() if count > 1] == []
