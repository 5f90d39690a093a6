"""Models of what a link does to single packets: losing, duplicating, reordering or damaging them.

Parameters are between 0 and 1; texts are percentages, in the order of `tc-netem(8)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import pairwise

from slownet.model.errors import ConditionError
from slownet.model.units import percent, show_percent


@dataclass(frozen=True)
class Chance:
    """Each packet is hit with the same probability.

    probability: 0 to 1.
    correlation: how much of a draw carries over to the next one, 0 to 1. It is netem's own notion, kept to reproduce
        measurements that used it; for bursts of a known length use `GilbertElliott`.
    """

    probability: float
    correlation: float = 0.0

    @property
    def mean(self) -> float:
        """The share of packets that is hit in the long run."""
        return self.probability

    def __str__(self) -> str:
        return show_percent(self.probability) + (f" correlated by {show_percent(self.correlation)}" if self.correlation else "")


@dataclass(frozen=True)
class GilbertElliott:
    """Loss in bursts: a good and a bad state, each with its own loss (Gilbert 1960, Elliott 1963).

    With the defaults it is Gilbert's simple model: every packet is lost in the bad state, and a burst is 1/r packets long on
    average.

    p, r: probability, per packet, of going from good to bad, and from bad to good.
    bad, good: probability of a loss in each state.
    """

    p: float
    r: float
    bad: float = 1.0
    good: float = 0.0

    @classmethod
    def bursts(cls, loss: float, length: float) -> GilbertElliott:
        """Return the model with a given loss and mean burst length.

        loss: share of packets lost, between 0 and 1.
        length: mean length of a burst in packets, at least 1.
        Raises ConditionError: no such model exists.
        """
        if not 0 < loss < 1 or length < 1:
            raise ConditionError(
                f"no bursts of {length:g} packets lose {show_percent(loss)}", fix="write it like '2% in bursts of 8'"
            )
        r = 1 / length
        p = loss * r / (1 - loss)
        if p > 1:
            raise ConditionError(
                f"bursts of {length:g} packets cannot lose {show_percent(loss)}",
                fix=f"bursts of {loss / (1 - loss):.3g} packets or more can",
            )
        return cls(p, r)

    @classmethod
    def fitted(cls, lost: Sequence[bool]) -> GilbertElliott:
        """Fit Gilbert's model to a sequence of losses by maximum likelihood: the shares of the changes of state.

        A state that the sequence never leaves is assumed to be left with the next packet.

        lost: for each packet, whether it was lost.
        Raises ConditionError: no packet, or every packet, was lost.
        """
        if not any(lost) or all(lost):
            raise ConditionError(f"{sum(lost)} of {len(lost)} packets lost: there are no bursts", fix="measure longer")
        begun = sum(after and not before for before, after in pairwise(lost))
        ended = sum(before and not after for before, after in pairwise(lost))
        return cls(max(1, begun) / max(1, len(lost) - sum(lost[:-1]) - 1), max(1, ended) / max(1, sum(lost[:-1])))

    @property
    def mean(self) -> float:
        """The share of packets that is lost in the long run."""
        if self.p + self.r == 0:
            return self.good
        in_bad = self.p / (self.p + self.r)
        return in_bad * self.bad + (1 - in_bad) * self.good

    @property
    def burst(self) -> float:
        """Mean length of a bad state, in packets."""
        return 1 / self.r if self.r else float("inf")

    def __str__(self) -> str:
        partly = f" (bad {show_percent(self.bad)}, good {show_percent(self.good)})" if (self.bad, self.good) != (1, 0) else ""
        return f"{show_percent(self.mean)} in bursts of {self.burst:.3g}{partly}"


@dataclass(frozen=True)
class Markov:
    """netem's 4-state model of loss (Salsano, Ludovici and Ordine 2009), named as in `tc-netem(8)`.

    States: 1 received, 2 received within a burst, 3 lost within a burst, 4 lost alone. From 4 the chain returns to 1 with the
    next packet. In a text, p31 is 1 - p13 and p23 is 1 unless given.

    p13, p31, p32, p23, p14: transition probabilities, per packet.
    """

    p13: float
    p31: float
    p32: float = 0.0
    p23: float = 1.0
    p14: float = 0.0

    @property
    def mean(self) -> float:
        """The share of packets that is lost in the long run: the stationary share of the states 3 and 4."""
        if self.p31 == 0:
            return 1.0 if self.p13 and not self.p32 else float("nan")
        one = 1.0
        three = one * self.p13 / self.p31  # in balance: bursts begin as often (p13) as they end (p31)
        two = three * self.p32 / self.p23 if self.p23 else 0.0
        four = one * self.p14
        return (three + four) / (one + two + three + four)

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {show_percent(part)}" for name, part in asdict(self).items())
        return f"{show_percent(self.mean)} by a 4-state chain ({parts})"


MOST_CORRELATED = 0.95  # above it, one draw decides about hundreds of packets

Loss = Chance | GilbertElliott | Markov

_SHAPES = "1%, 1% 25% (with correlation), 2% in bursts of 8, gemodel 1% 10% 70% 0.1%, or state 1% 30%"


def draws(model: Loss | None) -> bool:
    """Return whether the choice of packets is random."""
    return not isinstance(model, Chance | None) or (model is not None and 0 < model.probability < 1)


def correlates(model: Loss | None) -> bool:
    """Return whether draws are correlated; netem takes no seed for those."""
    return isinstance(model, Chance) and bool(model.correlation)


def chance(text: str, field: str) -> Chance:
    """Read a probability, with its correlation if there is a second number.

    text: such as "1%" or "1% 25%".
    field: the field's name, for error messages.
    Raises UnitError, ConditionError.
    """
    parts = _percents(text, text.split() if isinstance(text, str) else [text], field, 2)
    if len(parts) == 2 and parts[1] and not parts[0]:
        raise ConditionError(f"{field} '{text}' correlates an event of probability 0", fix="give a probability above 0")
    if len(parts) == 2 and parts[1] > MOST_CORRELATED:
        raise ConditionError(
            f"{field} '{text}' has a correlation above 95 %: its draws hardly change",
            fix="give a lower correlation, or write a loss like '2% in bursts of 8'",
        )
    return Chance(*parts)


def loss(text: str | Loss) -> Loss:
    """Read a model of loss.

    text: such as "1%", "2% in bursts of 8", "gemodel 1% 10%" or "state 1% 30%".
    Raises UnitError, ConditionError.
    """
    if isinstance(text, Chance | GilbertElliott | Markov):
        _in_range(text)
        return text
    words = text.split() if isinstance(text, str) else [text]
    if words[:1] == ["gemodel"]:
        parts = _percents(text, words[1:], "loss", 4)
        return GilbertElliott(*(parts if len(parts) > 1 else [parts[0], 1 - parts[0]]))
    if words[:1] == ["state"]:
        parts = _percents(text, words[1:], "loss", 5)
        return Markov(*(parts if len(parts) > 1 else [parts[0], 1 - parts[0]]))
    if words[1:4] == ["in", "bursts", "of"] and len(words) == 5:
        try:
            length = float(words[4])
        except ValueError:
            raise ConditionError(f"'{words[4]}' is not a burst length", f"in loss '{text}'", f"write {_SHAPES}") from None
        return GilbertElliott.bursts(percent(words[0]), length)
    return chance(text, "loss")


def _in_range(model: Loss) -> None:
    for part in astuple(model):
        if not 0 <= part <= 1:
            raise ConditionError(f"{part:g} is not a probability", f"in {model!r}", "probabilities go from 0 to 1")


def _percents(text: str, words: list[str], field: str, most: int) -> list[float]:
    if not 1 <= len(words) <= most:
        raise ConditionError(f"{field} '{text}' has {len(words)} numbers instead of 1 to {most}", fix=f"write {_SHAPES}")
    return [percent(word) for word in words]
