"""Scikit-learn's metadata routing: which methods take weights of rows, and by which name."""

from __future__ import annotations

from typing import Any, Self


class WeightRequests:
    """Requests of `sample_weight` by an estimator's methods; they need scikit-learn."""

    _metadata_request: Any  # the name that scikit-learn's `clone` copies

    def set_fit_request(self, *, sample_weight: bool | str | None) -> Self:
        """Say whether metadata routing passes `sample_weight` to `fit`.

        Parameters
        ----------
        sample_weight : bool, str or None
            True or False; another name under which callers pass it; None, the default of
            scikit-learn: passing it without a request is an error.

        Returns
        -------
        Estimator
            Itself.
        """
        return self._request("fit", sample_weight)

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Say whether metadata routing passes `sample_weight` to `score`.

        Parameters
        ----------
        sample_weight : bool, str or None
            As in `set_fit_request`.

        Returns
        -------
        Estimator
            Itself.
        """
        return self._request("score", sample_weight)

    def get_metadata_routing(self) -> Any:
        """Requests of all methods, as scikit-learn's ``MetadataRequest``.

        Returns
        -------
        MetadataRequest
            What `set_fit_request` and the like have set.
        """
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
