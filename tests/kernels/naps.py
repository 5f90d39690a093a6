"""The only program of a small kernel: naps beside a loop that makes no system call, says how late it woke, and ends the kernel.

Its root is the host's, read-only.
"""

import ctypes
import os
import statistics
import subprocess
import time

NAPS, NAP_S = 200, 0.005
POWER_OFF = 0x4321FEDC


def naps() -> list[float]:
    """How late each was over, in s."""
    due, late = time.monotonic(), []
    for _ in range(NAPS):
        due = max(due + NAP_S, time.monotonic())
        time.sleep(max(due - time.monotonic(), 0))
        late.append(time.monotonic() - due)
    return late


def main() -> None:
    libc = ctypes.CDLL(None)
    libc.mount(b"dev", b"/dev", b"devtmpfs", 0, None)
    terminal = os.open("/dev/tty0", os.O_RDWR)
    for each in range(3):
        os.dup2(terminal, each)
    busy = subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"])
    try:
        late = naps()
        print(f"{len(late)} naps, {statistics.median(late) * 1e6:.0f} us late", flush=True)
    finally:
        busy.kill()
        libc.reboot(POWER_OFF)


if __name__ == "__main__":
    main()
