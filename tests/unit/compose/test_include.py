"""A project of several files: what it includes, and which files it is where none is named. The rules are compose-go's."""

import pytest

from slownet.compose import project_files, reader
from slownet.model.errors import ComposeError

STOCK = """
services:
  stock:
    image: "${IMAGE:-none}:1"
    volumes: ["./data:/data:ro", "kept:/kept"]
    env_file: own.env
    build: {dockerfile: Own, additional_contexts: {base: ./base}}
    secrets: [key]
secrets: {key: {file: ./key}}
volumes: {kept: {driver_opts: {type: none, o: bind, device: ./kept}}}
"""


@pytest.fixture
def folder(tmp_path):
    """A project that includes another one, which has relative paths and variables of its own."""
    inner = tmp_path / "stock"
    for each in ("data", "kept", "base"):
        (inner / each).mkdir(parents=True)
    (inner / "compose.yaml").write_text(STOCK)
    (inner / ".env").write_text("IMAGE=stock\nOUTER=inner\n")
    (inner / "own.env").write_text("A=a\n")
    (inner / "key").write_text("k")
    return tmp_path


def project(folder, text, machine=None):
    (folder / "compose.yaml").write_text(text + "services: {web: {image: x, depends_on: [stock]}}\n")
    return reader.read([folder / "compose.yaml"], machine=machine or {})


@pytest.mark.parametrize(
    "include",
    [
        "include: [stock/compose.yaml]\n", "include: [{path: ./stock/compose.yaml}]\n",
        "include: [{path: [stock/compose.yaml]}]\n",
        "include: ['${WHERE:-stock}/compose.yaml']\n",
    ],
)  # fmt: skip
def test_an_included_project_is_read_in_its_own_folder(include, folder):
    found = project(folder, include)
    assert [each.name for each in found.services] == ["stock", "web"]
    stock, inner = found["stock"], folder / "stock"
    assert stock.image == "stock:1"
    assert {each.target: each.source for each in stock.volumes} == {"/data": f"{inner}/data", "/kept": f"{inner}/kept"}
    assert stock.environment == {"A": "a"}
    assert stock.build.endswith(f"-f {inner}/Own --build-context base={inner}/base {inner}")
    assert [each.path for each in stock.contents] == [f"{inner}/key"]


def test_the_outer_variables_come_first(folder):
    (folder / ".env").write_text("IMAGE=outer\n")
    assert project(folder, "include: [stock/compose.yaml]\n")["stock"].image == "outer:1"


def test_a_file_of_variables_and_a_directory_for_an_included_project(folder):
    (folder / "other.env").write_text("IMAGE=other\n")
    (folder / "elsewhere").mkdir()
    for each in ("data", "kept"):
        (folder / "elsewhere" / each).mkdir()
    for each in ("own.env", "key"):
        (folder / "elsewhere" / each).write_text("")
    include = "include: [{path: stock/compose.yaml, env_file: other.env, project_directory: elsewhere}]\n"
    stock = project(folder, include)["stock"]
    assert (stock.image, stock.volumes[0].source) == ("other:1", f"{folder}/elsewhere/data")


def test_later_files_of_an_entry_are_merged_over_earlier_ones(folder):
    (folder / "over.yaml").write_text("services: {stock: {image: over, secrets: !reset []}}\n")
    stock = project(folder, "include: [{path: [stock/compose.yaml, over.yaml]}]\n")["stock"]
    assert (stock.image, stock.contents) == ("over", ())


def test_included_projects_include_others(folder):
    (folder / "between.yaml").write_text("include: [stock/compose.yaml]\n")
    assert project(folder, "include: [between.yaml]\n")["stock"].image == "stock:1"


def test_of_two_resources_of_one_name_the_first_counts_and_a_line_names_both(folder):
    (folder / "other.yaml").write_text("services: {stock: {image: other, user: me}}\n")
    found = project(folder, "include: [stock/compose.yaml, other.yaml]\n")
    assert (found["stock"].image, found["stock"].container["user"]) == (
        project(folder, "include: [stock/compose.yaml]\n")["stock"].image,
        "me",
    )
    line = next(each for each in found.warnings if "merged" in each)
    assert f"services.stock is merged over the included one, {folder}/other.yaml:1:12, as in compose" in line


def test_the_same_resource_may_be_included_twice(folder):
    (folder / "other.yaml").write_text("include: [stock/compose.yaml]\n")
    assert project(folder, "include: [stock/compose.yaml, other.yaml]\n")["stock"].image == "stock:1"


def test_a_circle_is_refused(folder):
    (folder / "a.yaml").write_text("include: [b.yaml]\n")
    (folder / "b.yaml").write_text("include: [a.yaml]\n")
    with pytest.raises(ComposeError, match=r"a\.yaml includes itself, .*b\.yaml:1:11: take out one of the includes"):
        project(folder, "include: [a.yaml]\n")


# ---- the files of a project ----


@pytest.mark.parametrize(
    ("machine", "names"),
    [
        ({}, ["compose.yaml", "compose.override.yaml"]), ({"COMPOSE_FILE": "a.yaml:stock"}, ["a.yaml", "stock/compose.yaml"]),
        ({"COMPOSE_FILE": "a.yaml,b.yaml", "COMPOSE_PATH_SEPARATOR": ","}, ["a.yaml", "b.yaml"]),
    ],
)  # fmt: skip
def test_the_files_where_none_is_named(machine, names, folder):
    for each in ("compose.yaml", "compose.override.yaml"):
        (folder / each).touch()
    assert project_files.unnamed(folder, machine) == [folder / each for each in names]


def test_the_file_of_variables_names_files_too(folder):
    (folder / ".env").write_text("COMPOSE_FILE=a.yaml\n")
    assert project_files.unnamed(folder, {}) == [folder / "a.yaml"]


def test_files_of_variables_in_place_of_the_usual_one(folder):
    (folder / ".env").write_text("IMAGE=usual\n")
    (folder / "one.env").write_text("IMAGE=one\n")
    (folder / "two.env").write_text("IMAGE=${IMAGE}two\n")
    (folder / "compose.yaml").write_text("services: {web: {image: $IMAGE}}\n")
    machine = {"COMPOSE_ENV_FILES": f"{folder}/one.env,{folder}/two.env"}
    assert reader.read([folder / "compose.yaml"], machine=machine)["web"].image == "onetwo"
