"""Hyperparameters chosen by the joint: empirical Bayes, the default of `MAPDPM`.

========================  =========================================================================
file                      has
========================  =========================================================================
`normal_gamma`            hyperparameters of "normal-gamma" for given labels
`normal_inverse_wishart`  those of "normal-inverse-wishart"
`categorical`             those of "categorical"
`poisson_gamma`           those of "poisson-gamma"
`cluster_sums`            counts, means and scatters of clusters: all that normals need
`column_scales`           centres and widths of columns that outliers do not move
`design_effect`           how many rows that share values are worth one
`equal_rows`              rows that are equal in some columns, and how many chance would make
`spread_ties`             values on a grid, spread over its cells
`special`                 log-gamma and digamma of arrays
========================  =========================================================================
"""
