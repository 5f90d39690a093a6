"""`slownet why`: where the time of an operation went, of a run, or of a command that is run for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slownet.cli import completing, run_folders, why_outputs, why_two
from slownet.cli.endings import INTERRUPTED
from slownet.cli.helping import SectionedCommand
from slownet.cli.option_fields import Shown, of_fields
from slownet.cli.options import OF_PROJECTS, InANetwork
from slownet.cli.outputs import Outputs
from slownet.cli.terminal import console, say_page, say_records
from slownet.cli.why_options import OF_ACCOUNTS, PAGE, CommandOptions, WhyOptions
from slownet.model.errors import ExperimentError, SlownetError, nearest
from slownet.model.options import Option, changed
from slownet.model.units import duration
from slownet.runner.where import Where

if TYPE_CHECKING:
    from slownet.api.accounted import Again
    from slownet.api.measured_cures import Cured
    from slownet.judge.records.result import RunData
    from slownet.lab.run.clock import ClockRequest
    from slownet.lab.run.place import Place
    from slownet.waits.account import Account

COMMAND = "slownet.waits.command"
"""The key under which a context has the words after ``--``."""
EXAMPLE = "slownet why --topology two_hosts --from client -- ping -c 3 server"
OF_COMMANDS = "A command"
"""The section of the help for what concerns a command alone."""
OF_A_COMMAND = Shown(
    {"topology": OF_COMMANDS, "link": OF_COMMANDS, "limit": OF_COMMANDS, "compose": OF_PROJECTS},
    completions={
        "topology": completing.topologies,
        "link": completing.links,
        "compose": completing.files(".yaml", ".yml"),
    },
)


class WithCommand(SectionedCommand):
    """A command whose words after ``--`` are another command's, options too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Set aside what follows the first ``--``."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[COMMAND] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)


def _clock(where: Where) -> ClockRequest:
    """Return the clock: at free CPU unless another one is asked for."""
    from slownet.lab.run.clock import TDF_INF, ClockRequest

    return ClockRequest(tdf=TDF_INF) if where.place != "native" and where.asked == ClockRequest() else where.asked


@of_fields
def why(
    context: typer.Context,
    measured: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN|EXPERIMENT",
            help="A run's directory, or an experiment; of two, what made the second one take longer. After --: a command.",
            autocompletion=completing.measured,
        ),
    ] = None,
    *,
    options: WhyOptions,
    command: Annotated[CommandOptions, OF_A_COMMAND],
    where: InANetwork,
) -> None:
    """Print where every millisecond of an operation went.

    The account is made from all hosts' captures. A run without them is measured once more; an experiment, or a command on a
    host (after --), once, at free CPU unless another clock is asked for.
    """
    wanted = Outputs.read(options.out, OF_ACCOUNTS)
    words = context.meta.get(COMMAND)
    if words is not None:
        if options.cell:
            raise ExperimentError("a command has no cells", "--cell", "give its links: --link client-server=rtt=40ms")
        asked = _asked(words, measured or [], options, command)
        raise typer.Exit(_of_a_command(asked, where, wanted, options))
    _refuse(options, command)
    one, *other = _of_cells(measured or [], where, wanted, options)
    if other:
        why_two.show((one, other[0]), wanted, options.json)
        return
    tried = _cured(one, options) if options.cures else None
    if _show(*one, wanted, options, tried):
        _say_page(wanted)
    raise typer.Exit(_status(tried))


def _refuse(options: WhyOptions, command: CommandOptions) -> None:
    """Raise ExperimentError for an option that belongs to a command which was not given."""
    if options.profile and not command.compose:
        raise ExperimentError("no command", "--profile", f"write it after --: {EXAMPLE}")
    for name in changed(command):
        raise ExperimentError("no command", Option(name), f"write it after --: {EXAMPLE}")


def _of_cells(
    measured: Sequence[str], where: Where, wanted: Outputs, options: WhyOptions
) -> list[tuple[Account, RunData]]:  # fmt: skip
    """Return the account of a cell of each run or experiment, one or two. Raises SlownetError."""
    from slownet.api import accounted

    label = options.label
    if not measured:
        raise ExperimentError("nothing to account for", fix=f"name a run or an experiment, or a command: {EXAMPLE}")
    if len(measured) > 2:
        fix = f"name one, or two to compare; a command stands after --: slownet why ... -- {' '.join(measured[1:])}"
        raise ExperimentError(f"{len(measured)} runs", "RUN", fix)
    if len(measured) == 2:
        why_two.check(wanted, options.cures)
    found = [_measured(each, label, where, options.runs) for each in measured]
    return [accounted.accounted(each, label, options.from_, whole=options.whole, notify=_say) for each in found]


def _cured(one: tuple[Account, RunData], options: WhyOptions, again: Again | None = None) -> Cured:
    """Return what cures save, as measured. again: how a command is run once more."""
    from slownet.api.measured_cures import cured

    account, run = one
    whole = options.whole or again is not None
    return cured(run, account, options.label, options.from_, whole=whole, notify=_say, again=again)


def _measured(name: str, label: Mapping[str, str], where: Where, runs: Path) -> RunData:
    """Return a run, or measure an experiment."""
    from slownet.api import accounted
    from slownet.judge.records.measured_folder import load

    if _is_experiment(name):
        return accounted.of_experiment(name, label, where.place, _clock(where), where.kernel, runs)
    if any((where.clock, where.tdf, where.cpu, where.kernel)):
        fix = "leave out --clock, --tdf, --cpu and --kernel"
        raise ExperimentError("a run keeps its clock and kernel", f"run {name}", fix)
    path = run_folders.named(name, runs)
    if not path.exists():
        from slownet.hypotheses.catalogue import names

        raise ExperimentError(f"no run or experiment '{name}'", fix=nearest(name, names()))
    return load(path)


def _is_experiment(name: str) -> bool:
    """Return whether a word is an experiment's name or file; what is neither that nor a folder may be a run's name."""
    from slownet.hypotheses.catalogue import FILES, everything, layered

    path = Path(name)
    if path.is_dir():
        return False
    return name.endswith(FILES) or name in layered() or (path.name == name and name in everything())


def _asked(words: Sequence[str], measured: Sequence[str], options: WhyOptions, command: CommandOptions) -> Any:
    """Return the request for a command. Raises SlownetError."""
    from slownet.compose import project_files
    from slownet.hypotheses import commanded

    if not words or not words[0]:
        raise ExperimentError("no command after --", fix=f"write one: {EXAMPLE}")
    topology, compose = command.topology, command.compose
    networks = [*measured, *([topology] if topology else []), *(["--compose"] if compose else [])]
    if len(networks) != 1:
        what = "the command has no network" if not networks else f"the command has several networks: {', '.join(networks)}"
        raise ExperimentError(what, fix="name one: --topology NAME, --compose FILE, or an experiment")
    if options.profile and not compose:
        raise ExperimentError(
            "profiles belong to a compose project", "--profile", "add --compose compose.yaml, or leave it out"
        )
    if measured and not _is_experiment(measured[0]):
        what = f"{measured[0]} is not an experiment, so it has no network for a command"
        raise ExperimentError(what, fix="name an experiment or its file, or leave out the command to account for a run")
    limit_s = duration(command.limit, "--limit") if command.limit is not None else commanded.LIMIT_S
    if not limit_s:
        raise ExperimentError(f"a limit of {command.limit} leaves no time", "--limit", "give more than 0, such as 10s")
    return commanded.Request(
        command=tuple(words), topology=topology, experiment=measured[0] if measured else None,
        files=tuple(project_files.named(compose)) if compose else (), profiles=options.profile, host=options.from_,
        links=command.link, limit_s=limit_s,
    )  # fmt: skip


def _of_a_command(asked: Any, where: Where, wanted: Outputs, options: WhyOptions) -> int:
    """Run a command, print its account and return the exit status."""
    from slownet.api import accounted
    from slownet.lab.run.place import Interrupts
    from slownet.runner.run_request import place_of
    from slownet.waits import of_run

    accounted.check_command(asked)
    of = [asked.experiment] if asked.experiment else []
    chosen = place_of(of, where.place, _clock(where), where.memory, where.kernel, exact=False)
    with Interrupts(chosen) as interrupts:
        try:
            run = accounted.of_command(asked, chosen, options.runs)
        except KeyboardInterrupt:
            if not interrupts.received:
                raise
            _say("interrupted before the command had begun, so nothing is saved")
            return 128 + interrupts.received
    sample = of_run.sample_of(run, {})
    if not any(each.get("packets") for each in sample.get("captures") or ()):
        if interrupts.received:
            _say(str(sample.get("error")))
            return 128 + interrupts.received
        if error := sample.get("error"):
            raise SlownetError(error)
        if (ended := sample.get("facts") or {}).get("status"):
            what = f"the command ended with status {ended['status']}: {ended['complaint']}"
            raise ExperimentError(what, f"run {run.directory}", "it asked no other host; its output is in raw/")
        what = "the command used no network, so no part of its time is a link's"
        raise ExperimentError(what, f"run {run.directory}", "name one that asks another host")
    found = of_run.of_sample(run, sample, asked.host, whole=True)
    again = partial(_command_again, asked, chosen, options.runs)
    if not sample.get("error"):
        found = accounted.with_calls(found, run, sample, asked.host, whole=True, notify=_say, measure=again)
    measured = _cured((found, run), options, again) if options.cures and not interrupts.received else None
    if _show(found, run, wanted, options, measured):
        say_records(console(), run.directory)
        _say_page(wanted)
    return 128 + interrupts.received if interrupts.received else _status(measured)


def _status(measured: Cured | None) -> int:
    """Return the exit status after cures were measured, or not."""
    return INTERRUPTED if measured and measured.interrupted else 0


def _command_again(asked: Any, place: Place, runs: Path, cell: Mapping[str, str], env: Mapping[str, str]) -> RunData:
    """Run a command once more, with variables of the lab. Raises SlownetError, KeyboardInterrupt."""
    from slownet.api import accounted
    from slownet.api.calls import restored
    from slownet.lab.run.place import Interrupts, with_given

    with restored(env):
        other = with_given(place, [f"{name}={value}" for name, value in env.items()], ())
        with Interrupts(other):
            return accounted.of_command(asked, other, runs)


def _show(found: Account, run: RunData, wanted: Outputs, options: WhyOptions, measured: Cured | None = None) -> bool:
    """Print and write an account; return whether it was printed as text."""
    from slownet.cli.why_cures import cures_text
    from slownet.waits.account_text import answer, steps, text
    from slownet.waits.of_run import links_between

    links = links_between(run.facts.get("topology") or {})
    record = {**found.to_json(), "run": str(run.directory), **(measured.to_json() if measured else {})}
    why_outputs.write(wanted, found, links, run.directory.name, measured.outcomes if measured else ())
    if wanted.write_json(lambda: record):
        return False
    if options.json:
        print(json.dumps(record, indent=1))
        return False
    if measured:
        print(cures_text(found, measured, links))
    elif options.steps:
        print("\n".join([answer(found), *steps(found)]))
    else:
        print(text(found, links))
    return True


def _say_page(wanted: Outputs) -> None:
    """Print where the page is, if one was asked for."""
    if page := wanted.files.get(PAGE):
        say_page(console(), page)


def _say(line: str) -> None:
    print(f"slownet: {line}", file=sys.stderr)
