"""A project's images are kept, or the line says how to get them."""

import json
import subprocess

import pytest
from kept import keep

from slownet.compose import project_images, reader
from slownet.lab.host import native
from slownet.model.errors import ComposeError


@pytest.fixture(autouse=True)
def store(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(native.INSIDE, raising=False)


@pytest.fixture
def project(tmp_path):
    def of(text):
        (tmp_path / "compose.yaml").write_text(text)
        return reader.read([tmp_path / "compose.yaml"], machine={})

    return of


def test_what_images_say(project):
    web = keep("shop:1", ExposedPorts={"8000/tcp": {}, "53/udp": {}})
    db = keep("postgres:17", ExposedPorts={"5432/tcp": {}}, Healthcheck={"Test": ["CMD", "pg_isready"]})
    found = project_images.need(
        project(
            "services:\n  web: {image: shop:1}\n  own: {image: shop:1, expose: [9000]}\n  db: {image: postgres:17}\n"
            "  off: {image: postgres:17, healthcheck: {disable: true}}\n  on: {image: shop:1, healthcheck: {test: a}}\n"
        )
    )
    assert {name: (each.digest, each.ports, each.checked) for name, each in found.items()} == {
        "web": (web.digest, (8000,), False), "own": (web.digest, (9000,), False), "db": (db.digest, (5432,), True),
        "off": (db.digest, (5432,), False), "on": (web.digest, (8000,), True),
    }  # fmt: skip


def test_an_image_that_is_not_kept(project, tmp_path):
    with pytest.raises(ComposeError) as error:
        project_images.need(project("services:\n  web: {image: shop:1}\n"))
    where = f"{tmp_path}/compose.yaml:2:8"
    assert str(error.value) == f"there is no image 'shop:1', which web runs, {where}: slownet lab image add shop:1"


@pytest.mark.parametrize(
    ("builder", "reference"), [("podman", "containers-storage:localhost/"), ("docker", "docker-daemon:"), ("", "")]
)
def test_an_image_that_is_to_be_built(builder, reference, project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    if builder:
        (tmp_path / "bin" / builder).touch(mode=0o755)
    with pytest.raises(ComposeError) as error:
        project_images.need(project("name: shop\nservices:\n  web: {build: ./web}\n"))
    assert error.value.what == "there is no image 'shop-web', which web is built as"
    program, source = builder or "buildah", reference or "containers-storage:localhost/"
    assert error.value.fix == f"{program} build -t shop-web {tmp_path}/web && slownet lab image add {source}shop-web"


def test_a_dockerfile_of_the_file_itself_is_piped(project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    inline = "FROM debian:13\nRUN echo 'a 50% b' \\\n  && c   d\t e\n"
    text = f"name: shop\nservices:\n  web: {{build: {{context: ., dockerfile_inline: {json.dumps(inline)}}}}}\n"
    with pytest.raises(ComposeError) as error:
        project_images.need(project(text))
    assert "\n" not in str(error.value)
    printed, _, rest = error.value.fix.partition(" | ")
    assert rest.partition(" ")[2].startswith(f"build -t shop-web -f - {tmp_path} && slownet lab image add ")
    assert subprocess.run(["sh", "-c", printed], capture_output=True, text=True, check=True).stdout == inline


def test_all_images_that_are_missing(project):
    found = project("services:\n  web: {image: shop:1}\n  own: {image: shop:1}\n  db: {image: postgres:17, scale: 2}\n")
    assert [each.what for each in project_images.lacking(found.services)] == [
        "there is no image 'shop:1', which web runs", "there is no image 'postgres:17', which db runs",
    ]  # fmt: skip
    with pytest.raises(ComposeError, match=r"\(another one is missing: slownet shell compose --check lists all\)"):
        project_images.need(found)


WAITS = (
    "services:\n  web: {image: 'shop:1', depends_on: {db: {condition: service_healthy}}}\n  db: {image: 'shop:1', scale: 2%s}\n"
)


def test_a_wait_for_the_health_of_replicas(project, tmp_path):
    keep("shop:1")
    assert not project_images.unchecked((found := project(WAITS % ", healthcheck: {test: a}")).services)
    assert {name for name, each in project_images.need(found).items() if each.checked} == {"db-1", "db-2"}
    without = project(WAITS % "")
    (error,) = project_images.unchecked(without.services)
    assert str(error) == (
        f"web waits until db is healthy, which has no healthcheck, {tmp_path}/compose.yaml:2:39: add healthcheck: to db, or "
        "wait for service_started"
    )
    with pytest.raises(ComposeError, match=r"^web waits until db is healthy"):
        project_images.need(without)


def test_an_image_that_is_not_kept_may_have_a_healthcheck(project):
    assert not project_images.unchecked(project((WAITS % "").replace("shop:1", "none:1")).services)


def test_an_image_that_was_built_and_added(project):
    built = keep("localhost/shop-web:latest")
    assert project_images.need(project("name: shop\nservices:\n  web: {build: ./web}\n"))["web"].digest == built.digest


def test_waiting_for_health_that_nothing_checks(project, tmp_path):
    keep("shop:1")
    text = "services:\n  web: {image: shop:1, depends_on: {db: {condition: service_healthy}}}\n  db: {image: shop:1}\n"
    with pytest.raises(ComposeError) as error:
        project_images.need(project(text))
    assert str(error.value) == (
        f"web waits until db is healthy, which has no healthcheck, {tmp_path}/compose.yaml:2:37: "
        "add healthcheck: to db, or wait for service_started"
    )
