"""The arguments with which buildah, podman or docker builds a service's image, from ``build`` in a compose file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from slownet.compose.document import Map
from slownet.compose.longform import text
from slownet.model.errors import ComposeError
from slownet.model.shapes import Json

STDIN = "-"
"""The Dockerfile that the command reads from its standard input."""


def arguments(build: Map, image: str, path: Callable[[str], Path], secrets: Mapping[str, Json]) -> str:
    """Return them as a shell's words. path: makes one whole; secrets: those at the top of the files. Raises ComposeError."""
    given = str(build.get("context") or ".")
    context = given if "://" in given else str(path(given))
    words = ["build", "-t", image, *(word for each in build.get("tags") or () for word in ("-t", str(each)))]
    if build.get("dockerfile_inline"):
        words += ["-f", STDIN]
    elif build.get("dockerfile"):
        words += ["-f", str(Path(context, build["dockerfile"]))]
    if build.get("target"):
        words += ["--target", str(build["target"])]
    for key, value in (build.get("args") or {}).items():
        words += ["--build-arg", f"{key}={text(value)}" if value else str(key)]
    words += [word for option, value in _options(build, path, secrets) for word in (option, value) if word]
    return shlex.join([*words, context])


def _options(build: Map, path: Callable[[str], Path], secrets: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for field, option in _FLAGS.items():
        if build.get(field) is True:
            yield option, ""
    for field, option in _TEXTS.items():
        if build.get(field):
            yield option, text(build[field])
    for field, option in _LISTS.items():
        yield from ((option, str(each)) for each in build.get(field) or ())
    for field, (option, show) in _PAIRS.items():
        yield from ((option, show(name, value)) for name, value in (build.get(field) or {}).items())
    for name, value in (build.get("additional_contexts") or {}).items():
        yield "--build-context", f"{name}={_context(str(value), path)}"
    if build.get("platforms"):
        yield "--platform", ",".join(map(str, build["platforms"]))
    for number, each in enumerate(build.get("secrets") or ()):
        yield "--secret", _secret(each, secrets, path, build["secrets"].at[number])


def _limit(name: str, value: Any) -> str:
    return f"{name}={value['soft']}:{value['hard']}" if isinstance(value, Map) else f"{name}={value}"


_FLAGS: Mapping[str, str] = {"no_cache": "--no-cache", "pull": "--pull"}
_TEXTS: Mapping[str, str] = {"network": "--network", "shm_size": "--shm-size"}
_LISTS: Mapping[str, str] = {"cache_from": "--cache-from", "cache_to": "--cache-to"}
_PAIRS: Mapping[str, tuple[str, Callable[[str, Json], str]]] = {
    "labels": ("--label", lambda name, value: f"{name}={value or ''}"),
    "extra_hosts": ("--add-host", lambda name, value: f"{name}:{value[0]}"),
    "ulimits": ("--ulimit", _limit),
    "ssh": ("--ssh", lambda name, value: f"{name}={value}" if value else name),
}
"""Fields of a build and the options that do the same."""


def _context(value: str, path: Callable[[str], Path]) -> str:
    if value.startswith("service:"):
        return f"docker-image://{value.removeprefix('service:')}"
    return value if "://" in value else str(path(value))


def _secret(each: Map, declared: Mapping[str, Json], path: Callable[[str], Path], at: object) -> str:
    name = str(each.get("source"))
    found = declared.get(name)
    if not found:
        raise ComposeError(f"the secret '{name}' is not declared", str(at), "add it below secrets: at the top")
    known = str(each.get("target") or name)
    return (
        f"id={known},src={path(str(found['file']))}" if "file" in found else f"id={known},env={found.get('environment', name)}"
    )
