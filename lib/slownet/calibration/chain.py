"""The statistics of losses in bursts: how much the loss ratio and the mean burst length vary from sample to sample.

A loss model is a Markov chain; in each state, packets are lost with a certain probability. The variance of what n packets show
follows from the chain's fundamental matrix (Kemeny and Snell, Finite Markov Chains, 1960, section 4.6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from slownet.links.conditions.impairment import Chance, GilbertElliott, Loss, Markov
from slownet.model.errors import ConditionError

ROUNDING = 1e-12
Matrix = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Chain:
    """A loss model: the probabilities of transitions (each row sums to 1), and of losing a packet in each state."""

    transitions: tuple[tuple[float, ...], ...]
    loss: tuple[float, ...]

    @classmethod
    def of(cls, model: Loss) -> Chain:
        """Return the chain that netem runs for a model. Raises ConditionError for correlated losses, which are not a chain."""
        if isinstance(model, GilbertElliott):
            return cls(((1 - model.p, model.p), (model.r, 1 - model.r)), (model.good, model.bad))
        if isinstance(model, Markov):
            one = (1 - model.p13 - model.p14, 0.0, model.p13, model.p14)
            three = (model.p31, model.p32, 1 - model.p31 - model.p32, 0.0)
            return cls((one, (0.0, 1 - model.p23, model.p23, 0.0), three, (1.0, 0.0, 0.0, 0.0)), (0.0, 0.0, 1.0, 1.0))
        return cls.alone(model)

    @classmethod
    def alone(cls, chance: Chance) -> Chain:
        """Return the chain of one state, for independent losses."""
        if chance.correlation:
            raise ConditionError("correlated loss is not a Markov chain", fix="state a loss in bursts")
        return cls(((1.0,),), (chance.probability,))

    @property
    def burst_end(self) -> float | None:
        """The probability that a burst ends after a lost packet, if it is always the same: its length is then geometric."""
        if len(self.loss) == 1:
            return 1 - self.loss[0]
        reached = [state for state, part in enumerate(_stationary(np.array(self.transitions))) if part > ROUNDING]
        lossy = [state for state in reached if self.loss[state]]
        if len(lossy) == 1 and self.loss[lossy[0]] == 1:
            return 1 - self.transitions[lossy[0]][lossy[0]]
        return None

    def share(self, count: int) -> tuple[float, float]:
        """Return mean and standard deviation of the fraction of `count` packets that is lost."""
        return self._outcomes().mean_and_sd(count)

    def run(self, count: int) -> tuple[float, float]:
        """Return mean and standard deviation of the mean burst length among `count` packets."""
        return self._outcomes().run(count)

    def _outcomes(self) -> _Outcomes:
        """Return the chain whose states are (state, kept or lost)."""
        loss = np.array(self.loss)
        chances = np.concatenate([1 - loss, loss])
        return _Outcomes(np.tile(np.array(self.transitions), (2, 2)) * chances, np.repeat([0.0, 1.0], len(loss)))


@dataclass(frozen=True)
class _Outcomes:
    matrix: Matrix
    lost: Matrix

    def mean_and_sd(self, count: int) -> tuple[float, float]:
        at = _stationary(self.matrix)
        return float(at @ self.lost), math.sqrt(_variance(self.matrix, at, self.lost) / count)

    def run(self, count: int) -> tuple[float, float]:
        """Return the mean burst length, a ratio of lost packets to bursts, and its deviation by the delta method."""
        at, size = _stationary(self.matrix), len(self.lost)
        pairs = np.zeros((size * size, size * size))  # the chain whose states are (previous, current)
        for before in range(size):
            for now in range(size):
                pairs[before * size + now, now * size : (now + 1) * size] = self.matrix[now]
        at_pair = (at[:, None] * self.matrix).ravel()
        lost = np.tile(self.lost, size)
        begins = lost * (1 - np.repeat(self.lost, size))
        mean = float(at @ self.lost) / float(at_pair @ begins)
        spread = math.sqrt(_variance(pairs, at_pair, lost - mean * begins) / count)
        return mean, spread / float(at_pair @ begins)


def _stationary(matrix: Matrix) -> Matrix:
    size = len(matrix)
    equations = np.vstack([matrix.T - np.eye(size), np.ones(size)])
    found, *_ = np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)
    stationary: Matrix = np.clip(found, 0.0, None)
    return stationary


def _variance(matrix: Matrix, at: Matrix, values: Matrix) -> float:
    """Return the limit, for many steps n, of the variance of the sum of a function of the states, divided by n."""
    centred = values - at @ values
    fundamental = np.linalg.inv(np.eye(len(matrix)) - matrix + np.outer(np.ones(len(matrix)), at))
    return float(2 * at @ (centred * (fundamental @ centred)) - at @ (centred * centred))
