"""The images of a project: whether each is kept, and how to get one that is not."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from slownet.compose.model import HEALTHY, Project, Service
from slownet.containers import store
from slownet.containers.store import StoredImage
from slownet.model.errors import ComposeError, ImageError
from slownet.model.options import Option

BUILDERS = {"buildah": "containers-storage:localhost/", "podman": "containers-storage:localhost/", "docker": "docker-daemon:"}
"""Programs that build images, and how `slownet lab image add` names what each has built."""
TCP = "/tcp"


@dataclass(frozen=True)
class Ready:
    """The settings that a service's image adds, in addition to the compose file."""

    digest: str
    ports: tuple[int, ...]
    """TCP ports: the file's, or without any the image's."""
    checked: bool
    """True if it has a health check, of the file or of the image."""


def need(project: Project) -> dict[str, Ready]:
    """Return the settings of the images, by service.

    Raises ComposeError for an image that is not kept, and if a service waits for another one's health that nothing checks.
    """
    missing = lacking(project.services)
    if missing:
        raise _with_number(missing)
    found = {each.name: _ready(each, store.need(each.image)) for each in project.services}
    for error in _unchecked(project.services, found):
        raise error
    return found


def unchecked(services: Sequence[Service]) -> list[ComposeError]:
    """Return an error for each wait for a health that nothing checks, as far as the images are kept."""
    found = {each.name: _ready(each, store.need(each.image)) for each in services if not _absent(each)}
    return list(_unchecked(services, found))


def _unchecked(services: Sequence[Service], ready: Mapping[str, Ready]) -> Iterator[ComposeError]:
    by_origin = {each.origin: ready[each.name] for each in services if each.name in ready}
    for service in {each.origin: each for each in services}.values():
        for each in service.depends_on:
            if each.condition == HEALTHY and each.service in by_origin and not by_origin[each.service].checked:
                what = f"{service.origin} waits until {each.service} is healthy, which has no healthcheck"
                yield ComposeError(what, each.at, f"add healthcheck: to {each.service}, or wait for service_started")


def lacking(services: Sequence[Service]) -> list[ComposeError]:
    """Return an error for each image that is not kept, with what builds or adds it."""
    found: dict[str, ComposeError] = {}
    for service in services:
        if service.image not in found and (error := _absent(service)):
            found[service.image] = error
    return list(found.values())


def _absent(service: Service) -> ComposeError | None:
    try:
        store.need(service.image)
        return None
    except ImageError as error:
        fix = how_to_build(service) if service.build else error.fix
        what = f"{error.what}, which {service.origin} {'is built as' if service.build else 'runs'}"
        return ComposeError(what, service.at, fix)


def _with_number(missing: Sequence[ComposeError]) -> ComposeError:
    """Return the first of some errors; it counts the others."""
    first, *others = missing
    if not others:
        return first
    more = "another one is" if len(others) == 1 else f"{len(others)} others are"
    return ComposeError(
        first.what, first.where, f"{first.fix} ({more} missing: {Option('check').in_command('shell compose')} lists all)"
    )


def how_to_build(service: Service) -> str:
    """Return the commands that build a service's image and add it, by the first builder that this machine has."""
    builder = next((each for each in BUILDERS if shutil.which(each)), next(iter(BUILDERS)))
    piped = f"printf {_printed(service.dockerfile)} | " if service.dockerfile else ""
    return f"{piped}{builder} {service.build} && slownet lab image add {BUILDERS[builder]}{service.image}"


def _printed(text: str) -> str:
    """Return a text as printf's one word on one line of a shell; two spaces in a row would be one in an error's line."""
    written = text.translate({ord(each): word for each, word in _PRINTED.items()})
    return shlex.quote(re.sub(r" (?= )", r"\\040", written))


_PRINTED = {"\\": "\\\\", "%": "%%", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
"""Characters that printf writes, and what it is told to."""


def _ready(service: Service, image: StoredImage) -> Ready:
    exposed = [int(each.removesuffix(TCP)) for each in image.config.exposed_ports if each.endswith(TCP) and each[0].isdigit()]
    stated = service.health
    own = bool(stated and stated.test and stated.test[0] != "NONE")
    turned_off = bool(stated and stated.test and stated.test[0] == "NONE")
    checked = own or (image.config.healthcheck is not None and not turned_off)
    return Ready(image.digest, service.ports or tuple(exposed), checked)
