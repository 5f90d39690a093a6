"""Each value at each place of a file is allowed if compose's own schema allows it; an error names the kind that is right."""

import json

import probes
import pytest

from slownet.compose import kinds, values
from slownet.compose.document import Reset
from slownet.compose.scalars import date
from slownet.model.errors import ComposeError

EXPECTED = json.loads(probes.FILE.read_text())


def test_what_composes_schema_allows_is_allowed_and_nothing_else():
    ours = probes.answers(values.FILE)
    assert set(ours) == set(EXPECTED)
    for path, letters in ours.items():
        given, expected = (probes.without_those_taken_out(path, each) for each in (letters, EXPECTED[path]))
        assert given == expected, [
            (path, value) for value, one, other in zip(probes.PROBES, given, expected, strict=True) if one != other
        ]
    every = "".join(EXPECTED.values())
    assert every.count("1") > 10_000
    assert every.count("0") > 40_000


WRONG = {
    "services: {k: {tty: 5}}": ("services.k.tty is 5, not true or false or a text", "put it in quotes"),
    "services: {k: {ports: {}}}": ("services.k.ports is a mapping, not a list", ""),
    "services: {k: {ports: [[]]}}": ("services.k.ports.0 is a list, not a text, a number or a mapping", ""),
    "services: {k: {cgroup: privat}}": ('services.k.cgroup is "privat"', "did you mean 'private'?"),
    "services: {k: {cpu_percent: 101}}": ("services.k.cpu_percent is 101", "write a number from 0 to 100"),
    "services: {k: {cpu_count: -1}}": ("services.k.cpu_count is -1", "write at least 0"),
    "services: {k: {pull_policy: often}}": (
        'services.k.pull_policy is "often"',
        "write always, never, build, if_not_present, missing, refresh, daily, weekly or every_12h",
    ),
    "services: {k: {container_name: '-'}}": ('services.k.container_name is "-"', "write two or more letters, digits and . _ -"),
    "services: {k: {dns_opt: [a, a]}}": ("services.k.dns_opt has an element twice", "write it once"),
    "services: {k: {volumes: [{target: /x}]}}": ("services.k.volumes.0 lacks 'type'", "add type:"),
    "services: {k: {devices: [{sourc: x}]}}": ("unknown field 'sourc' in services.k.devices.0", "did you mean 'source'?"),
    "services: {k: {imag: x}}": ("unknown field 'imag' in services.k", "did you mean 'image'?"),
    "services: {'a b': {}}": ("the name 'a b' is not valid in services", "use letters, digits and . _ -"),
    "services: {k: null}": ("services.k is empty, not a mapping", ""),
    "jobs: {k: {triggers: {}}}": ("jobs.k.triggers lacks 'manual'", "add manual:"),
    "service: {}": ("unknown field 'service'", "did you mean 'services'?"),
    "services: {k: {blkio_config: {x-k: 1}}}": ("unknown field 'x-k' in services.k.blkio_config", "choose from device_"),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_has_its_place_and_a_fix(text, tmp_path):
    from slownet.compose import parser

    what, fix = WRONG[text]
    file = tmp_path / "compose.yaml"
    file.write_text("# a line before it\n" + text + "\n")
    (tree,) = parser.read(file, str(file))
    with pytest.raises(ComposeError) as caught:
        kinds.check(tree, values.FILE)
    assert caught.value.what == what
    assert caught.value.fix.startswith(fix)
    assert caught.value.where.startswith(f"{file}:2:")


def test_of_several_the_first_in_the_file_is_named():
    tree = probes.as_read({"services": {"k": {"tty": 5, "image": 6}}, "name": 7})
    with pytest.raises(ComposeError, match=r"services\.k\.tty is 5"):
        kinds.check(tree, values.FILE)


def test_a_date_is_a_text_only_where_numbers_and_truths_are():
    day = date("2024-01-01")
    kinds.check(probes.as_read({"services": {"k": {"environment": {"A": day}}}}), values.FILE)
    for wrong in ({"image": day}, {"environment": [day]}, {"cpus": day}, {"networks": {"n": {"driver_opts": {"k": day}}}}):
        with pytest.raises(ComposeError, match="is the date 2024-01-01, not a text"):
            kinds.check(probes.as_read({"services": {"k": wrong}}), values.FILE)


def test_what_is_reset_is_not_there():
    kinds.check(probes.as_read({"services": {"k": {"unknown": Reset(), "dns_opt": ["a", Reset(), Reset()]}}}), values.FILE)
    with pytest.raises(ComposeError, match="lacks 'type'"):
        kinds.check(probes.as_read({"services": {"k": {"volumes": [{"type": Reset()}]}}}), values.FILE)
