"""Additions of `--help` to each command: two or more examples, and what its exit statuses mean."""

from __future__ import annotations

from dataclasses import dataclass

import typer

MISTAKE = "after a mistake"
JUDGED = {0: "if every claim is supported", 1: "if one is not, or a cell was not measured", 2: MISTAKE}
DONE = {0: "when it is done", 2: MISTAKE}
INTERRUPTED = {130: "if interrupted"}
COMPARED = {
    0: "if the second run is equal or better",
    1: "if it is worse or differs",
    2: MISTAKE,
    3: "if that is open, or with --fail-if-slower and of a baseline if the second run lacks a condition of the first",
}
SWEPT = {0: "if every cell was measured", 1: "if one failed or was set aside", 2: MISTAKE}
PASSED_ON = "that of the program"


@dataclass(frozen=True)
class Told:
    """The examples of a command, and the meaning of its exit statuses: by number, or a word for one that is passed on."""

    examples: tuple[str, ...]
    status: dict[int, str] | str

    @property
    def epilog(self) -> str:
        """The text below a command's options."""
        if isinstance(self.status, str):
            ends = f"Exit status: {self.status}; 2 {MISTAKE}."
        else:
            ends = f"Exit status: {', '.join(f'{number} {text}' for number, text in self.status.items())}."
        return "\n".join(["\b", "Examples:", *(f"  {each}" for each in self.examples), "", ends])


COMMANDS = {
    "slownet init": Told(
        (
            "slownet init",
            "slownet init my-shop --ci gitlab",
            "slownet init my-shop --browser",
            "slownet init things --package slow-things",
        ),
        DONE,
    ),
    "slownet list": Told(("slownet list", "slownet list | grep delay"), DONE),
    "slownet run": Told(
        (
            "slownet run client_delay",
            "slownet run client_delay --vary rtt=0ms,25ms --tdf 1 --labs 1",
            "slownet run compose.yaml --vary db:rtt=9ms --tool ping --option to=db",
            "slownet run --resume runs/20260101-120000-client_delay",
        ),
        JUDGED | INTERRUPTED,
    ),
    "slownet sweep": Told(
        (
            "slownet sweep client_delay --vary rtt=0:200:10ms --out delays",
            "slownet sweep client_delay --vary rtt=0:200:10ms --sample lhs:10 --out part",
            "slownet sweep --resume --out delays",
        ),
        SWEPT | INTERRUPTED,
    ),
    "slownet hunt": Told(
        (
            "slownet hunt mine.py",
            "slownet hunt mine.py --examples 2000 --budget 2h --labs 2 --seed 7",
            "slownet hunt mine.py --resume",
        ),
        {0: "if nothing breaks", 1: "if something does, or a schedule could not be measured", 2: MISTAKE} | INTERRUPTED,
    ),
    "slownet hunt replay": Told(
        ("slownet hunt replay hunts/mine/found.toml", "slownet hunt replay hunts/mine/found.toml --times 20 --json"),
        {0: "if nothing breaks", 1: "if it breaks again, or cannot be measured", 2: MISTAKE},
    ),
    "slownet reproduce": Told(
        ("slownet reproduce", "slownet reproduce --all", "slownet reproduce --only wordpress-latency --budget 10,20m"),
        JUDGED | INTERRUPTED,
    ),
    "slownet show": Told(
        (
            "slownet show",
            "slownet show 20260101-120000-client_delay --at rtt=85ms,t0=12.3ms",
            "slownet show runs/*-client_delay --out page --out png=paper",
        ),
        {0: "when it is done", 1: "if a run's samples are damaged", 2: MISTAKE},
    ),
    "slownet why": Told(
        (
            "slownet why runs/20260101-120000-client_delay",
            "slownet why runs/before runs/after --out page=why.html",
            "slownet why client_delay --link client-switch=rtt=40ms -- curl http://web/",
            "slownet why --compose compose.yaml --from client -- curl http://web/",
        ),
        DONE | INTERRUPTED,
    ),
    "slownet costs": Told(
        (
            "slownet costs redis",
            "slownet costs redis-py --version 7.4.0",
            "slownet costs --expect redis-py/connect=6",
            "slownet costs mine.toml --measure --json",
        ),
        {
            0: "if all is as expected",
            1: "if something costs more or less",
            2: "after a mistake, or if an entry was not measured",
        },
    ),
    "slownet field": Told(
        ("slownet field https://shop.example/", "slownet field https://shop.example/ --requests 5 --pause 2s"),
        {0: "if every request was answered", 1: "if it stopped early", 2: MISTAKE} | INTERRUPTED,
    ),
    "slownet compare": Told(
        (
            "slownet compare runs/20260101-120000-mine runs/20260102-120000-mine",
            "slownet compare --fail-if-slower 5% runs/before runs/after",
            "slownet compare runs/20260101-120000-client_delay field.json --t0 12.3ms",
            "slownet compare baseline.json runs/20260102-120000-mine --fail-if-slower 5%",
        ),
        COMPARED,
    ),
    "slownet compare save": Told(
        ("slownet compare save runs/20260101-120000-client_delay", "slownet compare save runs/mine shop.json"), DONE
    ),
    "slownet check": Told(
        (
            "slownet check mine.toml --blind",
            "slownet check --tdf inf 01_one_way_and_back.toml 02_a_small_page.toml",
            "slownet check --key KEY.md mine.toml",
        ),
        {0: "if every prediction is right", 1: "if one is wrong or undecided", 2: MISTAKE} | INTERRUPTED,
    ),
    "slownet check mark": Told(
        (
            "slownet check mark --key key.toml answers/ada.toml answers/bob.toml",
            "slownet check mark --key key.toml --due 2026-11-30 --late 50% answers/*.toml",
            "slownet check mark --key key.toml --only 01_one_way_and_back answers/*.toml",
            "slownet check mark --key key.toml --moodle grades.csv answers/*.toml",
        ),
        {0: "when all are marked", 1: "if a file was not, and is named", 2: MISTAKE},
    ),
    "slownet check variants": Told(
        (
            "slownet check variants mine.toml --variants variants.toml",
            "slownet check variants mine.toml --variants variants.toml --student ada",
        ),
        DONE,
    ),
    "slownet check grade": Told(
        (
            "slownet check grade ada --key key.toml",
            "slownet check grade ada --key key.toml --test test_server.py --limit 60s",
        ),
        {0: "if all is right, or results were written for another program", 1: "if an answer or a test is not", 2: MISTAKE},
    ),
    "slownet check bundle": Told(
        (
            "slownet check bundle mine.toml --key key.toml --for gradescope",
            "slownet check bundle mine.toml --key key.toml --for submitty",
        ),
        DONE,
    ),
    "slownet field trace": Told(
        ("slownet field trace lte.trace", "ping -c 100 shop.example > ping.txt; slownet field trace ping.txt"), DONE
    ),
    "slownet doctor calibrate": Told(
        (
            "slownet doctor calibrate --tdf inf",
            "slownet doctor calibrate --tdf inf --only delay --only loss",
            "slownet doctor calibrate --tdf inf --ipv6",
        ),
        {0: "if every link does what it states", 1: "if one does not", 2: MISTAKE} | INTERRUPTED,
    ),
    "slownet shell mininet": Told(
        ("slownet shell mininet mine.py", "slownet shell mininet --tdf inf mn --test pingall"), PASSED_ON
    ),
    "slownet shell compose": Told(
        (
            "slownet shell compose",
            "slownet shell compose --check",
            "slownet shell compose exec db psql -c 'select 1'",
            "slownet shell compose --fields",
        ),
        "that of the session or command; with --check 2 if something is refused or missing",
    ),
    "slownet shell": Told(
        ("slownet shell star,5", "slownet shell two_hosts --link client-server=LTE", "slownet shell compose.yaml"),
        "that of the session",
    ),
    "slownet live": Told(
        (
            "slownet live",
            "slownet live client_web_db --open",
            "slownet live compose.yaml",
            "slownet live old.mn --clock virtual",
        ),
        {0: "if it was ended by Ctrl-C", 2: MISTAKE},
    ),
    "slownet doctor clean": Told(("sudo slownet doctor clean --dry-run", "sudo slownet doctor clean"), DONE),
    "slownet doctor": Told(
        ("slownet doctor", "slownet doctor --json", "slownet doctor --verify"),
        {0: "if experiments can run", 1: "if something that they need is missing or damaged"},
    ),
    "slownet help": Told(
        ("slownet help T0", "slownet help lab build", "slownet help howto/compose --open", "slownet help --pages"), DONE
    ),
    "slownet lab build": Told(("slownet lab build", "cd my-shop && slownet lab build"), DONE),
    "slownet lab exec": Told(
        ("slownet lab exec -- uname -a", "slownet lab exec --tdf inf --share out:rw -- sleep 3600"),
        "that of the command",
    ),
    "slownet lab shell": Told(("slownet lab shell", "slownet lab shell --memory 2048"), "that of the shell"),
    "slownet lab info": Told(("slownet lab info", "slownet lab info | grep tdf"), DONE),
    "slownet lab clean": Told(("slownet lab clean --dry-run", "slownet lab clean"), DONE),
    "slownet lab export": Told(("slownet lab export lab.tar", "slownet lab export --images lab.tar"), DONE),
    "slownet lab import": Told(
        (
            "slownet lab import lab.tar",
            "ssh teacher cat lab.tar | slownet lab import /dev/stdin",
            "sudo slownet lab import --system lab.tar",
        ),
        DONE,
    ),
    "slownet lab key": Told(("slownet lab key", "cd my-shop && slownet lab key"), DONE),
    "slownet lab image add": Told(
        (
            "docker save shop:1 | slownet lab image add /dev/stdin",
            "slownet lab image add shop.tar.gz --name shop:1",
            "slownet lab image add docker://registry.example/team/shop:1",
        ),
        DONE,
    ),
    "slownet lab image list": Told(("slownet lab image list", "slownet lab image list --json"), DONE),
    "slownet lab image prune": Told(("slownet lab image prune", "slownet lab image list && slownet lab image prune"), DONE),
    "slownet lab image rm": Told(("slownet lab image rm shop:1", "slownet lab image rm 3f2a9c0d71be"), DONE),
}
"""By the words of the command. Examples hold no square brackets, which `--help` takes for markup."""


def explain(app: typer.Typer, path: str = "slownet") -> None:
    """Add to the help of each command below an application; one that is not in the table stays as it is."""
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        is_own = path.endswith(f" {name}")  # of a group, which has the same name
        if told := COMMANDS.get(path if is_own else f"{path} {name}"):
            command.epilog = told.epilog
    for group in app.registered_groups:
        if group.typer_instance:
            explain(group.typer_instance, f"{path} {group.name}")
