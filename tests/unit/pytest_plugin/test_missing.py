import sys
from importlib import metadata

import pytest

from slownet.pytest_plugin import missing

OTHER = "cpython-36-x86_64-linux-gnu.so"
THIS = f"Python {sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The packages of an environment for another Python: outer imports inner, which has a compiled module."""
    folder = tmp_path / "site-packages"
    for name, text in {
        "outer_of_test/__init__.py": "import inner_of_test\n",
        "inner_of_test/__init__.py": "from ._compiled import value\n",
        "other_of_test/__init__.py": "from . import _compiled\n",
        "lazy_of_test/__init__.py": "def use():\n    import nowhere_of_test\n",
        "typo_of_test/__init__.py": "from . import nothing\n",
        "outer_of_test-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: Outer-Dist\nVersion: 1\n",
        "outer_of_test-1.dist-info/top_level.txt": "outer_of_test\n",
        f"inner_of_test/_compiled.{OTHER}": "",
        f"other_of_test/_compiled.{OTHER}": "",
        f"single_of_test.{OTHER}": "",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "prefix", "/opt/slownet/venv")
    yield folder
    for name in [each for each in sys.modules if "_of_test" in each]:
        del sys.modules[name]


def said(code):
    with pytest.raises(ImportError) as error:
        exec(compile(code, "test_file.py", "exec"), {"__name__": "test_file"})
    return missing.sentence(error.value)


def fix(name):
    return f'; write dependencies = ["{name}"] under [tool.slownet] in pyproject.toml, then run: slownet lab build'


def why(file):
    return f": {file}.{OTHER} is compiled for Python 3.6, and the lab has {THIS}"


def test_a_module_that_is_not_there(site):
    assert said("import nowhere_of_test") == "the lab has no module 'nowhere_of_test'" + fix("nowhere_of_test")
    assert said("import nowhere_of_test.sub") == "the lab has no module 'nowhere_of_test'" + fix("nowhere_of_test")


def test_a_module_that_is_compiled_for_another_python(site):
    assert said("import single_of_test") == f"the lab has no module 'single_of_test'{why('single_of_test')}" + fix(
        "single_of_test"
    )
    assert said("import other_of_test") == f"the lab has no module 'other_of_test._compiled'{why('_compiled')}" + fix(
        "other_of_test"
    )


def test_the_remedy_is_the_package_that_was_imported_by_its_name_on_pypi(site):
    assert said("import outer_of_test") == f"the lab has no module 'inner_of_test._compiled'{why('_compiled')}" + fix(
        "Outer-Dist"
    )


def test_names_on_pypi_are_those_that_python_finds():
    """With every distribution that is installed here, and without a look at their files."""
    found = metadata.packages_distributions()
    for top in (
        "yaml",
        "_pytest",
        "pytest",
        "six",
        "attr",
        "PIL",
        "nothing_of_test",
        *(each for each in found if each[0] in "mnp"),
    ):
        assert {each.name for each in missing._bringing(top)} >= set(found.get(top, ()))


def test_a_function_of_a_package_that_needs_another_package(site):
    assert said("import lazy_of_test as it; it.use()") == "the lab has no module 'nowhere_of_test'" + fix("nowhere_of_test")


def test_a_cause_counts(site):
    code = (
        "try:\n    import nowhere_of_test\nexcept ImportError as error:\n    raise ImportError('please install it') from error"
    )
    assert said(code) == "the lab has no module 'nowhere_of_test'" + fix("nowhere_of_test")


def test_a_project_that_is_installed_in_editable_mode_is_no_dependency(site):
    info = site / "own_of_test-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own_of_test\nVersion: 1\n")
    (info / "top_level.txt").write_text("own_of_test\n")
    (info / "direct_url.json").write_text('{"dir_info": {"editable": true}, "url": "file:///x"}')
    assert said("import own_of_test") == (
        "the lab has no module 'own_of_test': it is installed in editable mode; add the folder that holds it to pythonpath "
        "under [tool.pytest.ini_options] in pyproject.toml"
    )


@pytest.mark.parametrize(
    "code", ["import typo_of_test", "import typo_of_test.sub", "from lazy_of_test import nothing", "raise ImportError('no')"]
)
def test_mistakes_of_the_code_itself_are_not_the_labs(site, code):
    assert said(code) is None


def test_a_library_that_is_not_there():
    error = ImportError("libpq.so.5: cannot open shared object file: No such file or directory", name="_psycopg")
    assert missing.sentence(error) == (
        "the lab lacks the library libpq.so.5, which the module '_psycopg' needs: write packages = [\"...\"] with its Debian "
        "package under [tool.slownet] in pyproject.toml, then run: slownet lab build"
    )


def test_other_errors_say_nothing():
    assert missing.sentence(ValueError("no")) is None
