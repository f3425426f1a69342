"""Form: which scorecards are admitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stepnet.bounds.evidence import counted
from stepnet.bounds.scope import Scope
from stepnet.errors import InvalidInputError
from stepnet.model.activations.staircase import STEP
from stepnet.model.network import Network
from stepnet.problem.architecture import Architecture
from stepnet.problem.weights import Integers, Real
from stepnet.runtime.numbers import is_integer

MOST_POINTS = 100  # for one rule
MOST_RULES = 100


@dataclass(frozen=True)
class Form:
    """At most ``n_rules`` rules with 1 to ``points`` points each, at most ``rules_per_feature`` on the same feature."""

    n_rules: int
    points: int
    rules_per_feature: int

    @classmethod
    def of(cls, n_rules: Any, points: Any, rules_per_feature: Any) -> Form:
        """From parameters as given by a user, checked."""
        given = {"n_rules": (n_rules, MOST_RULES), "points": (points, MOST_POINTS)}
        for name, (value, most) in given.items():
            if not is_integer(value) or not 1 <= value <= most:
                raise InvalidInputError(f"{name}={value!r} must be an integer from 1 to {most}.")
        limit = n_rules if rules_per_feature is None else rules_per_feature
        if not is_integer(limit) or limit < 1:
            raise InvalidInputError(
                f"rules_per_feature={rules_per_feature!r} must be a positive integer, or None for any number."
            )
        return cls(int(n_rules), int(points), min(int(limit), int(n_rules)))

    def __str__(self) -> str:
        points = "1 point each" if self.points == 1 else f"1 to {self.points} points each"
        words = f"scorecards of up to {counted(self.n_rules, 'rule')} on one feature, {points}"
        if self.rules_per_feature < self.n_rules:
            words += f", at most {counted(self.rules_per_feature, 'rule')} per feature"
        return words

    @property
    def scope(self) -> Scope:
        return Scope(form=f"all {self}")

    def architecture(self, n_features: int, width: int | None = None) -> Architecture:
        """Of the networks that scorecards of so many rules are."""
        domains = (Real(), Integers(self.points))
        return Architecture(n_features, (width or self.n_rules,), "neuron", domains, (STEP, STEP))

    def refuses(self, network: Network) -> str | None:
        """Why a network is not a scorecard of this form, or None if it is one."""
        if len(network.layers) != 2 or network.widths[1] != 1 or network.widths[0] > self.n_rules:
            return f"it has widths {network.widths}, a scorecard here has up to {self.n_rules} rules and one total"
        rules, total = network.layers
        points, used = total.weights[0], (rules.weights != 0).sum(axis=1)
        if (used > 1).any() or ((points != 0) & (used == 0)).any():
            return "a rule must look at one feature"
        if not np.isin(points, np.arange(self.points + 1)).all() or total.thresholds[0] != round(total.thresholds[0]):
            return f"its points must be whole numbers from 1 to {self.points}, and so must its threshold be whole"
        if (rules.weights[points != 0] != 0).sum(axis=0).max(initial=0) > self.rules_per_feature:
            return f"it has more than {counted(self.rules_per_feature, 'rule')} on a feature"
        return None
