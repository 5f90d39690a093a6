"""A search for a module's name finds one file."""

from collections import Counter
from pathlib import Path

import slownet


def test_no_two_modules_have_one_name():
    names = Counter(path.name for path in Path(slownet.__file__).parent.rglob("*.py"))
    assert [name for name, count in names.items() if count > 1 and name not in ("__init__.py", "__main__.py")] == []
