"""A folder of small files, copied from far away by rsync, scp and sftp: which of them waits for each file."""

from folders import Folders
from git_pull import CHANNEL, END, HELD, LOGIN

from slownet import TwoHosts, experiment, law, predicted, ratio
from slownet.model.units import duration, size
from slownet.theory.slow_start import round_trips

NEAR, FAR, RTT = "50ms", "250ms", "100ms"
SSH, OWN, SCP, SFTP = "rsync, ssh", "rsync, own", "scp", "sftp"
COUNTS = ("1", "10", "50")
COPIES = [{"program": program, "files": count, "copy": "first"} for program in (SSH, OWN, SCP, SFTP) for count in COUNTS]
COPIES += [{"program": program, "files": "50", "copy": "again"} for program in (SSH, OWN)]
LESS, MORE, WINDOW = "32MiB", "64MiB", 2 << 20  # of a channel of OpenSSH
LARGE = [{"program": program, "size": each, "rtt": RTT} for program in (SSH, OWN) for each in (LESS, MORE)]

# rsync's protocol: names of checksums, which the server answers with a seed; the filters, with the list of files; what is asked
# for, with the files; the ends of two phases. None is for a file: "pipelining of file transfers to minimize latency costs"
# (rsync(1)).
PROTOCOL = 5
# Over SSH its start, and the versions: ssh passes nothing on before the program has started, so they cannot cross.
OVER_SSH = LOGIN + CHANNEL + 1 + 1 + PROTOCOL + END
# From its own server: TCP, the greetings, the folder's name, the options. The options, the names of checksums and, at the end,
# the statistics come in two pieces.
FROM_OWN = 1 + 1 + 1 + (1 + HELD) + HELD + PROTOCOL + HELD
# SFTP (draft-ietf-secsh-filexfer-02): start, version, limits; the folder's attributes twice, its whole name, then it is opened,
# read, read once more, closed. Each file is opened, read, read for what is missing, closed.
OVER_SFTP, OF_A_FILE = LOGIN + CHANNEL + 3 + 3 + 4 + END, 4
# sftp asks where it is, and for the attributes once more.
TRIPS = {SSH: OVER_SSH, OWN: FROM_OWN, SCP: OVER_SFTP, SFTP: OVER_SFTP + 2}


def trips(program, files, copy):
    """Round trips of a copy. rsync has all files on their way at once, as fast as TCP's window grows."""
    if program in (SCP, SFTP):
        return TRIPS[program] + OF_A_FILE * int(files)
    flights = round_trips(int(files) * 1000, until="last byte", header_bytes=0, receive_window=WINDOW) - 1
    return TRIPS[program] - 1 + (flights if copy == "first" else 0)


# One block: nothing is random but keys.
@experiment(
    topology=TwoHosts, service=Folders, cells=[{**each, "rtt": rtt} for each in COPIES for rtt in (NEAR, FAR)] + LARGE,
    tdf="inf", blocks=1, warm_up=0,
)  # fmt: skip
def folder_copy(net, folders, program, rtt, files="1", copy="first", **large):
    """How many round trips do rsync, scp and sftp take to copy a folder of 1, 10 or 50 small files?"""
    with net.link("client", "server").set(rtt=rtt):
        return folders.copy(net["client"], program, int(files), int(size(large.get("size", "1kB"))), again=copy == "again")


def a_window_each(run):
    """The time of the smaller file, and a round trip for each window of as much again (RFC 4254, 5.2)."""
    return run.at(LARGE[0]).summary("time_ms") + 1000 * duration(RTT) * size(LESS) / WINDOW


folder_copy.claims(
    *(law("time_ms", round_trips=trips(**each), within=0.01, at=each) for each in COPIES),
    # The last bytes take one more round trip at times, 2 % of the time.
    predicted("time_ms", LARGE[1], expected=a_window_each, within=0.04, because="rsync over SSH has SSH's window"),
    ratio("time_ms", LARGE[3], of=LARGE[1], at_most=0.75, because="rsync's own server has no window but TCP's"),
)


@folder_copy.answer
def answer(run):
    def trips(program, files):
        return f"{run.round_trips('time_ms', {'program': program, 'files': files, 'copy': 'first'}):.3g}"

    each = (f"{program} {', '.join(trips(program, files) for files in COUNTS)}" for program in TRIPS)
    return f"{'; '.join(each)}."
