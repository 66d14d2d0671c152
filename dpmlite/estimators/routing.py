"""What scikit-learn's metadata routing asks: which methods want weights of rows, by which name."""

from __future__ import annotations

from typing import Any, Self


class WeightRequests:
    """For an estimator whose methods take `sample_weight`; without scikit-learn, of no use."""

    _metadata_request: Any  # by this name scikit-learn's `clone` takes it along

    def set_fit_request(self, *, sample_weight: bool | str | None) -> Self:
        """Whether `fit` wants `sample_weight` of those that call it, or by which other name.

        Parameters
        ----------
        sample_weight : bool, str or None
            As in scikit-learn; None, which is so at first: who passes it has to say.

        Returns
        -------
        Estimator
            Itself.
        """
        return self._request("fit", sample_weight)

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """The same of `score`."""
        return self._request("score", sample_weight)

    def get_metadata_routing(self) -> Any:
        """What was asked for, as scikit-learn's `MetadataRequest`."""
        if hasattr(self, "_metadata_request"):
            return self._metadata_request
        from sklearn.utils.metadata_routing import MetadataRequest  # only scikit-learn calls this

        request = MetadataRequest(owner=type(self).__name__)
        for method in ("fit", "partial_fit", "score"):
            if hasattr(self, method):
                getattr(request, method).add_request(param="sample_weight", alias=None)
        return request

    def _request(self, method: str, sample_weight: bool | str | None) -> Self:
        request = self.get_metadata_routing()
        getattr(request, method).add_request(param="sample_weight", alias=sample_weight)
        self._metadata_request = request
        return self
