"""A search for a module's name finds one file."""

import re
from collections import Counter
from pathlib import Path

import slownet


def test_no_two_modules_have_one_name():
    names = Counter(path.name for path in Path(slownet.__file__).parent.rglob("*.py"))
    assert [name for name, count in names.items() if count > 1 and name not in ("__init__.py", "__main__.py")] == []


def test_each_program_that_is_started_by_its_name_is_there():
    here = Path(slownet.__file__).parent
    texts = [path.read_text() for folder in (here, here.parents[1] / "experiments") for path in folder.rglob("*.py")]
    started = {name for text in texts for name in re.findall(r'\bpython\("(\w+)"', text)}
    assert "call_timer" in started
    assert [name for name in sorted(started) if not (here / "tools" / "programs" / f"{name}.py").is_file()] == []
