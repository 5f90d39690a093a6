"""pytest-playwright, from PyPI, in an environment of its own: its fixtures and Chromium on a host of the network."""

import re
import subprocess
import sys

import pytest
import wheels

PAGE = (wheels.CHECKOUT / "docs/howto/browser.md").read_text()
BOTH = """
def test_slownets_page(slownet_page, wordpress):
    slownet_page.goto(wordpress.url)
    assert slownet_page.title()


def test_its_plugin_where_pytest_was_started(browser_name):
    assert browser_name == "chromium"
"""


def block(name):
    (found,) = re.findall(rf":caption: {name}\n\n(.*?)```", PAGE[PAGE.index("## Tests with Playwright itself") :], re.DOTALL)
    return found


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with pytest-playwright beside slownet, and without its lab's dependency."""
    folder = tmp_path_factory.mktemp("playwright")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    words = [folder / "venv/bin/python", "-m", "pip", "-q", "--disable-pip-version-check", "install"]
    subprocess.run([*words, "pytest-playwright", wheels.made(folder)], check=True)
    (folder / "shop").mkdir()
    (folder / "shop/pyproject.toml").write_text('[tool.slownet]\npackages = ["chromium"]\n')
    (folder / "shop/test_both.py").write_text(BOTH)
    return folder / "shop"


def run(project, program, *words):
    binary = project.parent / "venv/bin" / program
    return subprocess.run([binary, *words], cwd=project, capture_output=True, text=True, check=False)


def outcome(project, *words):
    return run(project, "pytest", "-q", "-W", "error", "-W", "ignore::pytest.PytestRemovedIn10Warning", *words)


def test_both_have_their_fixtures(project):
    """The lab's Python is another one, for which what Playwright requires is not compiled: its plugin stays outside."""
    assert run(project, "slownet", "lab", "build").returncode == 0
    done = outcome(project, "--slownet-memory", "1500", "test_both.py")
    assert "2 passed" in done.stdout, done.stdout


def test_its_page_behind_a_link(project):
    (project / "pyproject.toml").write_text(block("pyproject.toml"))
    for name in ("conftest.py", "test_shop.py"):
        (project / name).write_text(block(name))
    assert run(project, "slownet", "lab", "build").returncode == 0
    for _ in range(2):
        done = outcome(project, "--slownet-memory", "1500", "test_shop.py")
        assert "1 passed" in done.stdout, done.stdout


def test_without_the_dependency_a_test_says_what_to_write(project):
    (project / "pyproject.toml").write_text('[tool.slownet]\npackages = ["chromium"]\n')
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    if python == "3.13":  # the lab's: what is installed here is right there
        pytest.skip("this Python is the lab's")
    (project / "test_shop.py").write_text("def test_a_page_of_its_own(net, page):\n    pass\n")
    done = outcome(project, "test_shop.py")
    left_out = "pytest's plugin playwright is left out in the lab: the lab has no module 'greenlet._greenlet'"
    assert left_out in done.stdout, done.stdout
    assert 'write dependencies = ["pytest-playwright"] under [tool.slownet]' in done.stdout
