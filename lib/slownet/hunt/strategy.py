"""Hypothesis's part of a hunt: the strategy for a space of faults, its choice of examples, and its shrinking.

Hypothesis runs on the host alone. Its random choices depend on the seed only, and as long as no example fails, not on what came
of them. So the examples that it is going to try are known before the first one is measured (`planned`), and any number of labs
measure them side by side. Then Hypothesis does the same again, finds what was measured, and shrinks what failed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

from slownet.links.fault_space import Break, FaultSpace, is_of_host
from slownet.links.faults import Faults
from slownet.model.errors import ExperimentError

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

HYPOTHESIS = "'hypothesis>=6.100'"
MANY = 6
"""More hosts than these have too many ways to be cut."""
Names = tuple[str, ...]
PASSES = 20
PASS_S = 250.0
"""Hypothesis ends a shrink after 300 s of wall time. A pass that took about as long is made again: what was measured is known
by then, so that it goes through the same choices in no time, and further. Its own database does not help there: what Hypothesis
finds in that it does not shrink again."""


class Violated(Exception):  # noqa: N818  # what Hypothesis sees of an example that breaks the system
    """An example broke the system."""


def need() -> Any:
    """Return Hypothesis. Raises ExperimentError if it is not installed."""
    try:
        import hypothesis
    except ImportError as error:
        raise ExperimentError("Hypothesis is not installed", "slownet hunt", f"python -m pip install {HYPOTHESIS}") from error
    return hypothesis


def strategy(space: Any) -> SearchStrategy[Faults]:
    """Return the strategy of a space of faults, or what a function of the user's returns. Raises ExperimentError."""
    need()
    from hypothesis import strategies

    if isinstance(space, FaultSpace):
        return strategies.lists(_breaks(space), min_size=1, max_size=space.most).map(space.of)
    made = space() if callable(space) else space
    if not isinstance(made, strategies.SearchStrategy):
        raise ExperimentError(
            f"{type(made).__name__} is not a set of faults to choose from", fix="write faults(hosts, kinds, within)"
        )
    return made


def _breaks(space: FaultSpace) -> SearchStrategy[Break]:
    from hypothesis import strategies as st

    @st.composite
    def one(draw: DrawFn) -> Break:
        kind, hosts, others = draw(st.sampled_from(_targets(space)))
        begin = draw(st.integers(0, space.steps - 1))
        length = draw(st.sampled_from(_lengths(space.steps)))
        return Break(kind, hosts, others, _at(begin, space), _at(min(begin + length, space.steps), space))

    return one()


def _targets(space: FaultSpace) -> list[tuple[str, Names, Names]]:
    """Return all that can break, the simplest first; what is rarer by its kind stands there more than once.

    One choice for kind and target, not several: Hypothesis leaves out a break in one go only if that is made of few choices.
    What it cannot leave out stays in the schedule that it calls the smallest.
    """
    sides = _sides(space.hosts)
    place = space.hosts.index
    mutual = [(one, other) for one, other in sides if place(one[0]) < place(other[0])]  # "a from b" is "b from a"
    served: list[tuple[Names, Names]] = [((service,), ()) for service in space.services]
    alone: list[tuple[Names, Names]] = [((host,), ()) for host in space.hosts]
    between = {"cut": mutual, "one-way": sides, "reset": sides}
    found = {kind: between.get(kind) or (alone if is_of_host(kind) else served) for kind in space.kinds}
    most = max(map(len, found.values()))
    return [(kind, *each) for kind, whole in found.items() for each in whole for _ in range(most // len(whole))]


def _sides(hosts: Names) -> list[tuple[Names, Names]]:
    """Return the ways to cut some hosts from others, those with few hosts first; of many hosts, one against one or all."""
    if len(hosts) > MANY:
        pairs = [((one,), (other,)) for one, other in permutations(hosts, 2)]
        return pairs + [((one,), tuple(each for each in hosts if each != one)) for one in hosts]
    found = []
    for sides in product((0, 1, 2), repeat=len(hosts)):
        first, second = (tuple(host for host, side in zip(hosts, sides, strict=True) if side == which) for which in (1, 2))
        if first and second:
            found.append((first, second))
    return sorted(found, key=lambda each: (len(each[0]) + len(each[1]), len(each[0])))


def _lengths(steps: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50 and so on, and the whole time."""
    series = (factor * 10**power for power in range(len(str(steps))) for factor in (1, 2, 5))
    return [*(each for each in series if each < steps), steps]


def _at(steps: int, space: FaultSpace) -> float:
    """Return a number of steps in seconds, as a person would write it."""
    digits = max(0, 1 - math.floor(math.log10(space.step)))
    return round(steps * space.step, digits + 2)


def planned(space: Any, seed: int, examples: int) -> list[Faults]:
    """Return the schedules that Hypothesis tries while none fails, in its order, each once."""
    found: dict[str, Faults] = {}

    def take(example: Faults) -> None:
        found.setdefault(str(example), example)

    _run(strategy(space), take, seed, examples, ("generate",))
    return list(found.values())


def search(space: Any, judge: Callable[[Faults], bool], seed: int, examples: int) -> Faults | None:
    """Try schedules until one fails, and shrink it.

    space: what to choose from.
    judge: measures a schedule; returns whether it breaks the system, at once if that is known. What it raises ends the search.
    seed, examples: of Hypothesis.
    returns: the smallest schedule that failed; None if none did.
    """
    chosen = strategy(space)
    last: Faults | None = None

    def example(schedule: Faults) -> None:
        nonlocal last
        if judge(schedule):
            last = schedule
            raise Violated

    for _ in range(PASSES):
        began = time.monotonic()
        with suppress(Violated):
            _run(chosen, example, seed, examples, ("generate", "shrink"))
        if last is None or time.monotonic() - began < PASS_S:
            break
    return last


def _run(chosen: Any, example: Callable[[Faults], None], seed: int, examples: int, phases: tuple[str, ...]) -> None:
    import hypothesis
    from hypothesis import HealthCheck, Phase

    settings = hypothesis.settings(
        max_examples=examples, database=None, deadline=None,
        phases=[Phase[each] for each in phases], suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
        derandomize=False, verbosity=hypothesis.Verbosity.quiet, print_blob=False,
    )  # fmt: skip

    @hypothesis.seed(seed)
    @settings
    @hypothesis.given(chosen)
    def hunted(schedule: Faults) -> None:
        example(schedule)

    with _quiet(), _seed_alone():
        hunted()


@contextmanager
def _seed_alone() -> Iterator[None]:
    """Let the seed alone decide what Hypothesis chooses, not the modules that happen to be imported.

    Since 6.131, one choice in forty is a literal found in the source of an imported module outside site-packages. Each import
    between two searches, of a module of slownet or of a user's, would then lead one seed to other schedules: `planned` and
    `search`, or a hunt and what goes on with it, would differ. It has no setting for that.
    """
    from hypothesis.internal.conjecture import providers

    literals = getattr(providers, "_get_local_constants", None)
    if literals is None:
        yield
        return
    none = type(literals())()
    providers.CONSTANTS_CACHE.cache.clear()  # it holds literals by the choice's bounds
    providers._get_local_constants = lambda: none
    try:
        yield
    finally:
        providers._get_local_constants = literals
        providers.CONSTANTS_CACHE.cache.clear()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Hypothesis's messages to developers of tests off the terminal."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
