"""Series of patches: which there are, and an older one made of the newest."""

import shutil

import pytest

from slownet.lab.build import kernel
from slownet.lab.build.kernel import Patch
from slownet.model.errors import LabError

REAL = kernel.series_folders(kernel.FILES)
NEEDS_PATCH = pytest.mark.skipif(not shutil.which("patch"), reason="the build of a kernel installs patch")
FIRST = "Why.\n\n--- a/time.c\n+++ b/time.c\n@@ -1,3 +1,3 @@\n one\n-two\n+seven\n three\n"


def head(patch):
    """The text before a patch's diff."""
    return patch.text.partition("\n---\n")[0]


@pytest.fixture
def write(tmp_path):
    def write(series, name, text=""):
        (tmp_path / series).mkdir(exist_ok=True)
        (tmp_path / series / name).write_text(text)
        return tmp_path / series

    return write


def test_the_newest_is_first(write, tmp_path):
    for release in ("6.12", "7", "6.9"):
        write(release, "0001-a.patch")
    assert [each.name for each in kernel.series_folders(tmp_path)] == ["7", "6.12", "6.9"]


def test_a_series_without_a_list_is_its_patches_in_order(write):
    write("7", "0002-b.patch", "second")
    assert kernel.read_series(write("7", "0001-a.patch", "first")) == [
        Patch("0001-a.patch", "first"),
        Patch("0002-b.patch", "second"),
    ]


@NEEDS_PATCH
def test_an_older_series_has_what_it_lists_changed_by_its_differences(write):
    write("7", "0001-a.patch", FIRST)
    for name in ("0002-b.patch", "0003-c.patch"):
        write("7", name, f"{name} as it is")
    write("6.12", "0001-a.patch.diff", "--- a\n+++ a\n@@ -7,2 +7,2 @@\n--two\n+-2\n +seven\n")
    series = write("6.12", "series", "0001-a.patch\n0003-c.patch\n")
    assert kernel.read_series(series) == [
        Patch("0001-a.patch", FIRST.replace("-two", "-2")),
        Patch("0003-c.patch", "0003-c.patch as it is"),
    ]


@NEEDS_PATCH
def test_a_difference_that_fits_no_longer_is_told(write):
    write("7", "0001-a.patch", FIRST)
    write("6.12", "0001-a.patch.diff", "--- a\n+++ a\n@@ -7,2 +7,2 @@\n--2\n+-two\n +seven\n")
    with pytest.raises(LabError, match=r"^6\.12/0001-a\.patch\.diff does not fit that patch, "):
        kernel.read_series(write("6.12", "series", "0001-a.patch\n"))


def test_a_patch_knows_the_files_that_it_touches():
    assert Patch("x", FIRST + "--- /dev/null\n+++ b/new/file.c\n@@ -0,0 +1 @@\n+new\n").files == {"time.c", "new/file.c"}


@NEEDS_PATCH
@pytest.mark.parametrize("series", REAL, ids=lambda series: series.name)
def test_the_real_patches_say_who_signed_them(series):
    patches = kernel.read_series(series)
    assert patches
    for each in patches:
        assert all(f"\n{field}: " in head(each) for field in ("From", "Subject", "Signed-off-by")), each.name


@NEEDS_PATCH
def test_the_real_series_have_the_same_patches_but_for_what_only_the_newest_kernel_needs():
    first, *others = [[(each.name, head(each)) for each in kernel.read_series(series)] for series in REAL]
    assert [name[:4] for name, _ in first] == [f"{i:04d}" for i in range(1, len(first) + 1)]
    assert others
    newest = {  # what mends something that came with Linux 6.16, or makes it faster
        "0010-tcp-Count-what-was-read-of-a-flight-that-arrived-at-.patch",
        "0014-um-End-a-process-whose-pages-the-host-does-not-map.patch",
        "0017-um-Keep-the-processes-of-programs-that-ended.patch",
        "0018-um-Unmap-pages-here-and-there-with-one-call.patch",
        "0019-um-Let-the-host-map-pages-before-they-are-touched.patch",
        "0020-mm-Map-more-of-a-file-with-a-fault-where-faults-are-.patch",
        "0021-mm-Take-the-pages-of-files-one-after-the-other-where.patch",
        "0022-um-Ask-for-a-program-s-CPU-time-only-after-it-ran.patch",
    }
    assert all(each == [(name, text) for name, text in first if name not in newest] for each in others)


def test_no_difference_is_left_over():
    for series in REAL[1:]:
        stored = {each.name.removesuffix(".diff") for each in series.glob("*.diff")}
        assert stored <= set(kernel.listed_patches(series))
