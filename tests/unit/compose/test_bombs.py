"""Small files that ask for very much: each is read, or refused with one line, within ten seconds and 300 MB."""

import json
import subprocess
import sys

import pytest

SERVICE = "services: {a: {image: x}}\n"
DOUBLED = f"A0={50 * 'x'}\n" + "".join(f"A{n}=$A{n - 1}$A{n - 1}\n" for n in range(1, 40))
CHAIN = "".join(f"  s{n}: {{extends: s{n - 1}}}\n" for n in range(1, 400))
TAIL = "".join(f"  s{n}: {{extends: s{n - 1}}}\n" for n in range(1000, 0, -1))


def included(entry):
    files = {
        f"c{n}.yaml": f"include: [{entry}]\nservices: {{s{n}: {{image: x}}}}\n".replace("NEXT", f"c{n + 1}.yaml")
        for n in range(30)
    }
    return files | {"c30.yaml": SERVICE, "compose.yaml": "include: [c0.yaml, c0.yaml]\n", "a.env": "A=1", "b.env": "A=2"}


def aliases(one, several):
    lines = [f"x-0: &a0 {one}", *(f"x-{n}: &a{n} {several}".replace("*A", f"*a{n - 1}") for n in range(1, 12))]
    return "\n".join(lines) + "\n" + SERVICE


BOMBS = {
    "a value that doubles": ({"compose.yaml": SERVICE, ".env": DOUBLED}, "variables stand for more than 4 MB of text"),
    "the same in a service's file": (
        {"compose.yaml": "services: {a: {image: x, env_file: e.env}}\n", "e.env": DOUBLED},
        "variables stand for more than 4 MB of text",
    ),
    "a long value named often": (
        {"compose.yaml": f"services: {{a: {{image: x, environment: ['A={200 * '$A'}']}}}}\n", ".env": f"A={100_000 * 'x'}\n"},
        "variables stand for more than 4 MB of text",
    ),
    "very many variables": ({"compose.yaml": SERVICE, ".env": "".join(f"A{n}=${{A{n - 1}:-x}}\n" for n in range(100_000))}, ""),
    "replicas": (
        {"compose.yaml": "services: {a: {image: x, scale: 1000000000}}\n"},
        "1000000000 services, of which 1000000000 are a",
    ),
    "more replicas than 64 bits": (
        {"compose.yaml": f"services: {{a: {{image: x, scale: '{40 * '9'}'}}}}\n"},
        "services.a.scale is '9999",
    ),
    "included twice, thirty times": (included("NEXT, NEXT"), ""),
    "included with two environments": (
        included("{path: NEXT, env_file: a.env}, {path: NEXT, env_file: b.env}"),
        "too many includes",
    ),
    "includes in a row": (
        {f"c{n}.yaml": f"include: [c{n + 1}.yaml]\n" for n in range(1000)}
        | {"c1000.yaml": SERVICE, "compose.yaml": "include: [c0.yaml]\n"},
        "projects include one another deeper than 50",
    ),
    "defaults in one another": (
        {"compose.yaml": f"services: {{a: {{image: x, command: '{400 * '${A:-'}x{400 * '}'}'}}}}\n"},
        "defaults are nested deeper than 50",
    ),
    "defaults without an end": (
        {"compose.yaml": f"services: {{a: {{image: x, command: '{100_000 * '${A:-'}'}}}}\n"},
        "unclear variable in",
    ),
    "a chain of extends": ({"compose.yaml": f"services:\n  s0: {{image: x}}\n{CHAIN}"}, ""),
    "a longer chain of extends": (
        {"compose.yaml": f"services:\n{TAIL}  s0: {{image: x}}\n"},
        "more than 500 services extend one another",
    ),
    "aliases of lists": ({"compose.yaml": aliases("[x, x, x]", f"[{', '.join(9 * ['*A'])}]")}, "more than 30000 values"),
    "aliases of mappings": (
        {"compose.yaml": aliases("{a: 1}", f"{{<<: [{', '.join(9 * ['*A'])}]}}")},
        "more than 30000 values",
    ),
    "lists in one another": ({"compose.yaml": f"x: {50_000 * '['}{50_000 * ']'}\n{SERVICE}"}, "nested deeper than 50"),
    "a number of many digits": (
        {"compose.yaml": f"services: {{a: {{image: x, scale: {500_000 * '9'}}}}}\n"},
        "has too many digits",
    ),
    "a text of many digits": (
        {"compose.yaml": f"services: {{a: {{image: x, cpu_shares: '{500_000 * '9'}'}}}}\n"},
        "cpu_shares is '9999",
    ),
    "a size with a large exponent": (
        {"compose.yaml": "services: {a: {image: x, shm_size: 1e999999999g}}\n"},
        "shm_size is '1e999999999g'",
    ),
    "a duration of many parts": (
        {"compose.yaml": f"services: {{a: {{image: x, stop_grace_period: {200_000 * '1h'}}}}}\n"},
        "stop_grace_period is '1h1h",
    ),
    "ranges of ports": (
        {"compose.yaml": f"services: {{a: {{image: x, ports: {[f'{n}-65535' for n in range(1, 20_000)]}}}}}\n"},
        "ranges of more than",
    ),
    "a long quoted word": ({"compose.yaml": f"services: {{a: {{image: x, command: \"sh -c '{900_000 * 'a'}'\"}}}}\n"}, ""),
    "services that wait for one another": (
        {
            "compose.yaml": "services:\n"
            + "".join(f"  a{n}: {{image: x, depends_on: [a{n + 1}]}}\n" for n in range(200))
            + "  a200: {image: x}\n"
        },
        "",
    ),
    "a large file": ({"compose.yaml": f"x: {2_000_000 * 'x'}\n{SERVICE}"}, "cannot read"),
}
"""Files, and what the error begins with; empty where the project is valid."""
CHILD = """
import json, sys, time
from pathlib import Path
from slownet.compose import reader
from slownet.model.errors import ComposeError
try:
    found = [""] if reader.read([Path("compose.yaml")], machine={}).services else []
except ComposeError as error:
    found = str(error).splitlines()
peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]  # ru_maxrss may be the parent's
print(json.dumps([found, time.process_time(), int(peak) / 1000]))
"""


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_with_one_line(tmp_path, name):
    files, expected = BOMBS[name]
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    done = subprocess.run([sys.executable, "-c", CHILD], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines, seconds, megabytes = json.loads(done.stdout)
    assert len(lines) == 1
    assert expected in lines[0]
    assert bool(expected) == bool(lines[0])
    assert len(lines[0]) < 1000
    assert seconds < 10
    assert megabytes < 300
