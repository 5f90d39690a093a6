import pytest
from typer.testing import CliRunner

from slownet.cli import app as cli
from slownet.cli import documentation
from slownet.cli import help as command
from slownet.model.errors import SlownetError

PAGES = ("index", "howto/compose", "reference/compose", "reference/conditions", "tutorial/index", "genindex", "_static/x")


@pytest.fixture
def manual(tmp_path, monkeypatch):
    """A built manual, as in a wheel."""
    for name in PAGES:
        path = tmp_path / "manual" / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<p>")
    monkeypatch.setattr(documentation, "BUILT", tmp_path / "docs/_build/html")
    monkeypatch.setattr(documentation, "INSTALLED", tmp_path / "manual")
    return tmp_path


def test_a_word_in_a_heading_leads_to_its_pages(manual):
    heading = '<h{0}>{1}<a class="headerlink" href="#x">#</a></h{0}>'
    text = "<p>Celery</p>" + heading.format(1, "Hosts") + heading.format(2, "With <em>Celery</em> behind it")
    (manual / "manual/reference/conditions.html").write_text(text)
    (manual / "manual/howto/compose.html").write_text(heading.format(1, "A queue of Celery's"))
    (manual / "manual/tutorial/index.html").write_text("<p>Celery</p>" + heading.format(1, "Excelery"))
    first, *paths = said("celery")
    assert first == "pages with it in a heading:"
    assert [each.removeprefix(f"{manual}/manual/") for each in paths] == ["howto/compose.html", "reference/conditions.html"]
    with pytest.raises(SlownetError, match=r"no term, command or page 'cel.ry'"):  # a text, no pattern
        said("cel.ry")


def said(*words):
    done = CliRunner().invoke(cli.tree(), ["help", *words])
    if isinstance(done.exception, SlownetError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


@pytest.mark.parametrize(
    ("page", "file"),
    [
        (("index",), "index"),
        (("conditions",), "reference/conditions"),
        (("tutorial",), "tutorial/index"),
        (("howto/compose",), "howto/compose"),
        (("howto/compose.md",), "howto/compose"),
    ],
)
def test_the_path_of_a_page(manual, page, file):
    assert said(*page)[-1] == str(manual / "manual" / f"{file}.html")


def test_a_word_that_is_a_term_and_a_page_shows_both(manual):
    meaning, blank, path = said("conditions")
    assert (meaning.partition(":")[0], blank, path) == ("condition", "", str(manual / "manual/reference/conditions.html"))


def test_all_pages_of_a_name_are_shown(manual):
    paths = [str(manual / f"manual/{folder}/compose.html") for folder in ("howto", "reference")]
    assert said("compose")[-2:] == paths


def test_the_pages(manual):
    assert said("--pages") == sorted(name for name in PAGES if not name.startswith(("gen", "_")))


@pytest.mark.parametrize(
    ("page", "line"),
    [
        ("compose", "several pages are called 'compose': choose from howto/compose, reference/compose"),
        ("conditoins", "no page 'conditoins': did you mean 'conditions'?"),
    ],
)
def test_a_page_that_is_none_or_several(manual, page, line):
    with pytest.raises(SlownetError) as error:
        said(page, "--open")
    assert str(error.value) == line


def test_a_checkout_is_asked_first(manual):
    documentation.BUILT.mkdir(parents=True)
    (documentation.BUILT / "index.html").write_text("<p>")
    assert said("index") == [str(manual / "docs/_build/html/index.html")]


@pytest.mark.parametrize(("checkout", "fix"), [(True, "make docs, in the checkout"), (False, "install a wheel that was built")])
def test_without_pages(manual, monkeypatch, checkout, fix):
    monkeypatch.setattr(documentation, "INSTALLED", manual / "nowhere")
    if checkout:
        (manual / "docs").mkdir()
        (manual / "docs/conf.py").write_text("")
    with pytest.raises(SlownetError, match="the documentation is not built: " + fix):
        said("--open")


@pytest.mark.parametrize("opens", [True, False])
def test_opening(manual, monkeypatch, opens):
    opened = []
    monkeypatch.setattr(command.webbrowser, "open", lambda address: opened.append(address) or opens)
    if opens:
        said("--open")
    else:
        with pytest.raises(SlownetError, match=r"no browser can be opened here, --open: open file://.*index.html"):
            said("--open")
    assert opened == [(manual / "manual/index.html").as_uri()]
