"""Losses that remember: how much a share of lost packets and the length of their runs vary from sample to sample.

A loss model is a Markov chain whose states lose packets with a probability each. What n packets show of it scatters
around its mean with a variance that the chain's fundamental matrix gives (Kemeny and Snell, Finite Markov Chains,
1960, section 4.6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from slownet.conditions.impairment import Chance, GilbertElliott, Loss, Markov
from slownet.errors import ConditionError

ROUNDING = 1e-12
Matrix = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Chain:
    """transitions: from state to state, one row sums to 1; loss: the part of the packets that is lost in each state."""

    transitions: tuple[tuple[float, ...], ...]
    loss: tuple[float, ...]

    @classmethod
    def of(cls, model: Loss) -> Chain:
        """The chain that netem runs for a model. Raises ConditionError for a correlated chance, which is none."""
        if isinstance(model, GilbertElliott):
            return cls(((1 - model.p, model.p), (model.r, 1 - model.r)), (model.good, model.bad))
        if isinstance(model, Markov):
            one = (1 - model.p13 - model.p14, 0.0, model.p13, model.p14)
            three = (model.p31, model.p32, 1 - model.p31 - model.p32, 0.0)
            return cls((one, (0.0, 1 - model.p23, model.p23, 0.0), three, (1.0, 0.0, 0.0, 0.0)), (0.0, 0.0, 1.0, 1.0))
        return cls.alone(model)

    @classmethod
    def alone(cls, chance: Chance) -> Chain:
        """Each packet for itself."""
        if chance.correlation:
            raise ConditionError("a correlated chance is no Markov chain", fix="state a loss in bursts")
        return cls(((1.0,),), (chance.probability,))

    @property
    def leaving(self) -> float | None:
        """The chance that a run of losses ends, where it is the same after each: its length is then geometric."""
        if len(self.loss) == 1:
            return 1 - self.loss[0]
        reached = [state for state, part in enumerate(_stationary(np.array(self.transitions))) if part > ROUNDING]
        lossy = [state for state in reached if self.loss[state]]
        if len(lossy) == 1 and self.loss[lossy[0]] == 1:
            return 1 - self.transitions[lossy[0]][lossy[0]]
        return None

    def share(self, count: int) -> tuple[float, float]:
        """The part of `count` packets that is lost: its mean and its standard deviation."""
        return self._outcomes().mean_and_sd(count)

    def run(self, count: int) -> tuple[float, float]:
        """The mean length of the runs of losses among `count` packets: what it is on average, and its standard deviation."""
        return self._outcomes().run(count)

    def _outcomes(self) -> _Outcomes:
        """The chain of (state, kept or lost)."""
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
        """A ratio, lost packets over runs, so its deviation is that of what is lost less the mean times the runs."""
        at, size = _stationary(self.matrix), len(self.lost)
        pairs = np.zeros((size * size, size * size))  # the chain of (before, now)
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
    """Of the sum of a function of the states over n steps, divided by n, as n grows."""
    centred = values - at @ values
    fundamental = np.linalg.inv(np.eye(len(matrix)) - matrix + np.outer(np.ones(len(matrix)), at))
    return float(2 * at @ (centred * (fundamental @ centred)) - at @ (centred * centred))
