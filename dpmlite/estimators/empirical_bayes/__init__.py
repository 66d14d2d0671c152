"""Hyperparameters chosen by the joint: empirical Bayes, the default of `MAPDPM`.

========================  =========================================================================
file                      has
========================  =========================================================================
`alternation`             labels and hyperparameters in turn, until the joint does not fall
`normal_gamma`            hyperparameters of "normal-gamma" for given labels
`normal_inverse_wishart`  those of "normal-inverse-wishart"
`cluster_sums`            counts, means and scatters of clusters, of which both need nothing else
`column_scales`           centres and widths of columns that outliers do not move
`spread_ties`             values on a grid, spread over its cells
`minimise`                minimisation by gradients
========================  =========================================================================
"""
