"""No module but `slownet.lab.run.outbox` opens a path below a folder that a lab writes to."""

from pathlib import Path

import pytest
from lab_paths import OUTBOX, Analysis, Found, sources

import slownet

IN_THE_LAB = "it runs in the place, beside what writes there"
BEFORE = "it makes the folder before a lab has it"
OWN = "the folder itself is the host's: a lab writes below it"
COPIED = "links are copied into a lab as links; of code only the names of variables are used"
COPIES = [
    *(("_walk", call) for call in ("listdir", "is_symlink", "is_dir", "is_file")),
    *(("_add", call) for call in ("lstat", "stat", "readlink")),
    *(("_add_file", "open"), ("_is_output", "lstat"), ("content", "is_file"), ("content", "is_symlink")),
]
ALLOWED = {
    **{Found("slownet.lab.exact.packed", function, call): COPIED for function, call in COPIES},
    Found("slownet.lab.run.caller", "variables_named_in", "read_text"): COPIED,
    Found("slownet.judge.records.samples", "Raw.keep", "open"): IN_THE_LAB,
    Found("slownet.runner.inside", "run", "mkdir"): IN_THE_LAB,
    **{Found("slownet.lab.host.native", "RealTime.__call__", call): IN_THE_LAB for call in ("stat", "unlink", "write_bytes")},
    Found("slownet.net.interface_captures", "_fresh", "exists"): IN_THE_LAB,
    Found("slownet.judge.records.samples", "SampleLog.__init__", "mkdir"): OWN,
    Found("slownet.runner.lab_environment", "_made", "mkdir"): OWN,
    Found("slownet.lab.build.image", "_make_site", "mkdir"): BEFORE,
    Found("slownet.lab.build.layer", "_build", "mkdir"): BEFORE,
    Found("slownet.pytest_plugin.staging", "Staging.__init__", "mkdir"): BEFORE,
    Found("slownet.pytest_plugin.staging", "Staging._sow", "mkdir"): BEFORE,
    Found("slownet.pytest_plugin.staging", "Staging._sow", "copyfile"): BEFORE,
    Found("slownet.pytest_plugin.staging", "Staging.name_tests", "mkdir"): BEFORE,
    Found("slownet.pytest_plugin.staging", "Staging.name_tests", "place"): BEFORE,
    Found("slownet.runner.booting", "boot", "place"): "stderr.txt is the host's, its name made as those of a lab's folders",
}


def test_no_other_module_opens_what_a_lab_wrote():
    """Whoever adds a call to ALLOWED says why it follows nothing that a lab left there."""
    found = {each for each in Analysis(sources(Path(slownet.__file__).parent)).run() if each.module not in OUTBOX}
    assert found == set(ALLOWED)


HEAD = """
import json, os, shutil
from pathlib import Path
from slownet.lab.run.lab import Share
from slownet.lab.run.outbox import Outbox
from slownet.judge.records.samples import RAW, of_lab
from slownet.runner.job import CAPTURES, SERVICES
from slownet import other
"""
OPENED = {
    "a constant": ("def f(directory):\n    return (directory / RAW / 'x').read_text()", "read_text"),
    "a literal": ("def f(directory):\n    with open(directory / 'raw/x') as file: pass", "open"),
    "a variable": ("def f(directory):\n    folder = directory / CAPTURES\n    for each in folder.glob('*'): pass", "glob"),
    "a loop": ("def f(d, names):\n    for each in [d / RAW / name for name in names]: each.stat()", "stat"),
    "os": ("def f(directory):\n    os.listdir(os.path.join(directory, SERVICES))", "listdir"),
    "shutil": ("def f(directory, to):\n    shutil.copytree(directory / of_lab(SERVICES, 2), to)", "copytree"),
    "an argument": ("def g(path):\n    return path.read_bytes()\ndef f(d):\n    return g(d / RAW / 'x')", "read_bytes"),
    "a result": ("def g(d):\n    return d / RAW\ndef f(d):\n    return list(g(d).iterdir())", "iterdir"),
    "an attribute": (
        "class A:\n    def __init__(self, d):\n        self.d = d / RAW\n    def f(self):\n        return self.d.exists()",
        "exists",
    ),
    "a sample's files": ("def f(d, sample):\n    for name in sample.get('raw') or (): (d / name).read_text()", "read_text"),
    "a sample's captures": ("def f(d, sample):\n    return open(d / sample['captures'][0]['file'])", "open"),
    "a job's folders": ("def f(d, job):\n    for name in job.folders(): shutil.rmtree(d / name)", "rmtree"),
    "a share": ("def f(lab, out):\n    lab([Share(out, writable=True)])\n    return json.load((out / 'x').open())", "open"),
    "a share, by another function": (
        "def g(folder, w):\n    return Share(folder, writable=w)\ndef f(half):\n    g(half, True)\n    (half / 'x').unlink()",
        "unlink",
    ),
    "outbox.place": ("from slownet.lab.run.outbox import place as write\ndef f(d):\n    write(d / RAW / 'x', b'')", "place"),
    "another module": ("def f(d):\n    other.look(d / RAW)", "is_file"),
}  # fmt: skip


def opened(code):
    modules = {"slownet.one": HEAD + code, "slownet.other": "def look(path):\n    return path.is_file()\n"}
    return {each.call for each in Analysis(modules).run()}


@pytest.mark.parametrize(("code", "call"), OPENED.values(), ids=OPENED)
def test_what_opens_such_a_path_is_found(code, call):
    assert call in opened(code)


@pytest.mark.parametrize(
    "code",
    [
        "def f(d):\n    return Outbox(d / RAW).read('x')",
        "def f(d):\n    with Outbox(d / RAW).open('x') as file: return json.loads(file.read())",
        "def f(d):\n    return (d / 'run.json').read_text()",
        "def f(lab, kit):\n    lab([Share(kit)])\n    return (kit / 'x').read_text()",
        "def f(d, sample):\n    return Outbox(d).read(sample['raw'][0])",
    ],
)
def test_what_opens_none_is_not(code):
    assert opened(code) == set()
