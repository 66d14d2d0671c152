"""The family of the numbers of zero-inflated columns, where they are not 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite.estimators.priors.normal_gamma import NormalGammaFamily

if TYPE_CHECKING:
    from dpmlite import families
    from dpmlite.estimators.inputs.choices import Prior


class ZeroInflatedFamily(NormalGammaFamily):
    """Normal where a cell is not 0, and missing where it is: a category tells whether it is."""

    name = "zero-inflated"

    def component(
        self, prior: Prior, allow_missing: bool, power: float = 1.0
    ) -> families.Component:
        return super().component(prior, allow_missing=True, power=power)
