"""The images of a project: whether each is kept, and how to get one that is not."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from slownet.compose.model import HEALTHY, Project, Service
from slownet.container import store
from slownet.container.store import Kept
from slownet.errors import ComposeError, ImageError

BUILDERS = {"buildah": "containers-storage:localhost/", "podman": "containers-storage:localhost/", "docker": "docker-daemon:"}
"""Programs that build images, and how `slownet image add` names what each has built."""
TCP = "/tcp"


@dataclass(frozen=True)
class Ready:
    """What a service's image says about it, in addition to the compose file."""

    digest: str
    ports: tuple[int, ...]
    """TCP ports: the file's, or without any the image's."""
    checked: bool
    """Whether it has a health check, of the file or of the image."""


def need(project: Project) -> dict[str, Ready]:
    """Return what the images say, by service.

    Raises ComposeError for an image that is not kept, and if a service waits for another one's health that nothing checks.
    """
    found = {each.name: _ready(each, _kept(each)) for each in project.services}
    for service in project.services:
        for each in service.depends_on:
            if each.condition == HEALTHY and not found[each.service].checked:
                what = f"{service.name} waits until {each.service} is healthy, which has no healthcheck"
                raise ComposeError(what, each.at, f"add healthcheck: to {each.service}, or wait for service_started")
    return found


def _kept(service: Service) -> Kept:
    try:
        return store.need(service.image)
    except ImageError as error:
        fix = how_to_build(service) if service.build else error.fix
        what = f"{error.what}, which {service.name} {'is built as' if service.build else 'runs'}"
        raise ComposeError(what, service.at, fix) from error


def how_to_build(service: Service) -> str:
    """Return the commands that build a service's image and add it, by the first builder that this machine has."""
    builder = next((each for each in BUILDERS if shutil.which(each)), next(iter(BUILDERS)))
    return f"{builder} {service.build} && slownet image add {BUILDERS[builder]}{service.image}"


def _ready(service: Service, image: Kept) -> Ready:
    exposed = [int(each.removesuffix(TCP)) for each in image.config.exposed_ports if each.endswith(TCP) and each[0].isdigit()]
    stated = service.health
    own = bool(stated and stated.test and stated.test[0] != "NONE")
    turned_off = bool(stated and stated.test and stated.test[0] == "NONE")
    checked = own or (image.config.healthcheck is not None and not turned_off)
    return Ready(image.digest, service.ports or tuple(exposed), checked)
