"""Installs the wheel with kernel and site in clean roots of Debian and Ubuntu, without a compiler, and measures there."""

import json
import os
import shutil
from pathlib import Path

import image_entries
import pytest

import slownet
from slownet.lab.build import cache, debian, image
from slownet.model.errors import SlownetError

CHECKOUT = Path(__file__).parents[2]
BUILDS_THE_IMAGE = "mmdebstrap,mount,uidmap,squashfs-tools-ng,xz-utils"
UBUNTU = "deb http://archive.ubuntu.com/ubuntu noble main universe"
KEYRING = "/usr/share/keyrings/ubuntu-archive-keyring.gpg"
ROOTS = [
    pytest.param("bookworm", "3.11", "import", id="debian12"),
    pytest.param("trixie", "3.13", "import", id="debian13"),
    pytest.param("trixie", "3.13", "build", id="debian13-from-packages"),
    pytest.param("noble", "3.12", "import", id="ubuntu24.04"),
    pytest.param("forky", "3.14", "import", id="debian14"),
]
UNREACHABLE = ("Could not resolve", "Temporary failure", "Connection failed", "Could not connect", "Unable to connect")


@pytest.mark.parametrize(("suite", "python", "how"), ROOTS)
def test_a_new_machine_gets_its_first_result(suite, python, how, kit, tmp_path):
    packages = f"python3-venv,ca-certificates,libstdc++6{',' + BUILDS_THE_IMAGE if how == 'build' else ''}"
    hooks = [f"sync-in {kit} /kit", f"copy-in {CHECKOUT}/tests/packaging/inside /", f'chroot "$1" /inside {how}']
    hooks += [f"copy-out /report {tmp_path}"]
    hooks += [f"copy-out /cache/slownet/image {tmp_path}"] if how == "build" else []
    certificates = os.environ.get("PIP_CERT")
    if certificates:  # of this machine's own authority
        hooks.insert(0, f"upload {certificates} {certificates}")
    sources = [UBUNTU if Path(KEYRING).exists() else UBUNTU.replace("deb ", "deb [trusted=yes] ")] if suite == "noble" else []
    argv = [
        "mmdebstrap", "--variant=minbase", "--format=null", f"--include={packages}",
        '--setup-hook=mkdir -p "$1/kit"',
        # that of Debian's next release may be a mirror's of some weeks ago
        """--aptopt=Acquire::Check-Valid-Until "false" """, *(f"--customize-hook={each}" for each in hooks),
        suite, "/dev/null", *sources,
    ]  # fmt: skip
    environment = {"PIP_CERT": certificates} if certificates else {}
    try:
        cache.need_programs(debian.PROGRAMS, "a clean root")
        words = ["env", "--unset=PIP_FIND_LINKS", *(f"{name}={value}" for name, value in environment.items()), *argv]
        cache.run(words, tmp_path / "packaging.log", f"trying it in {suite}", cwd=Path("/"), hints=debian.HINTS)
    except SlownetError as error:
        log = (tmp_path / "packaging.log").read_text(errors="replace")
        if suite == "noble" and any(each in log for each in UNREACHABLE):
            pytest.skip("Ubuntu's archive cannot be reached")
        pytest.fail(f"{error}\n{log[-3000:]}", pytrace=False)
    report = tmp_path / "report"
    seconds = dict(line.split() for line in (report / "seconds").read_text().splitlines())
    print(f"{suite}, Python {python}, {how}: seconds to the end of each step {seconds}")
    assert (report / "compilers").read_text() == ""
    assert (report / "version").read_text() == f"slownet {slownet.__version__}\n"
    assert (report / "python").read_text().startswith(f"Python {python}.")
    findings = {each["name"]: each for each in json.loads((report / "doctor").read_text())["findings"]}
    assert (report / "doctor.status").read_text() == "1\n"
    assert "gcc" not in findings["packages"]["text"]
    assert findings["packages"]["good"] == (how == "build")
    (run,) = json.loads((report / "run").read_text())["runs"]
    assert {each["verdict"] for each in run["claims"]} == {"supported"}
    if how == "build":
        compare_images(tmp_path / "image", image.find())


def compare_images(folder, ours):
    """Two machines make the same image of the same packages: with users of the same numbers, so that the wheel's site fits."""
    (squashfs,) = folder.glob("*/image.squashfs")
    try:
        theirs = image_entries.read(squashfs)
        facts = json.loads(squashfs.with_name("image.json").read_text())
    finally:
        shutil.rmtree(folder)  # most of a gigabyte; pytest keeps what a test leaves
    other = sorted(dict(facts["packages"].items() ^ ours.packages.items()))
    print(f"the site {'came with the wheel' if facts['site']['carried'] else 'was made there'}; packages that differ: {other}")
    assert facts["site"]["carried"] == (facts["site"]["key"] == ours.site_key)
    if other:
        return  # Debian has newer ones than when the image here was built
    entries = image_entries.read(ours.path)
    if image_entries.python_packages(entries) != image_entries.python_packages(theirs):
        print("PyPI has other packages than when the image here was built: the rest is compared")
        entries, theirs = image_entries.without_venv(entries), image_entries.without_venv(theirs)
    differences = image_entries.differences(entries, theirs)
    print(f"{len(entries)} entries compared")
    assert not differences, "\n".join([f"{len(differences)} differ", *differences[:20]])
    assert ours.site_key is None or facts["site"]["carried"]
