"""What users give: tables, weights and parameters, read and checked.

================================  ==================================================================
file                              has
================================  ==================================================================
`user_tables`, `reading`          what is no table, names of columns; the columns of data frames
`arrays`, `number_tables`         arrays of numbers; tables of numbers, dense or sparse
`data`                            `Data`, checked rows with weights, which all of these make
`columns`                         the columns of a mixed table, and how their cells are coded
`extremes`, `row_numbers`         extreme values of columns; columns that only number the rows
`sample_weights`, `given_labels`  weights and labels of the rows
`parameters`, `folds`, `limits`   parameters: single ones, `cv`, and what ends a fit early
`domain`, `choices`               the ranges of parameters, and their types for editors
`shown`, `user_warnings`          values in messages, and warnings that point at the user's line
================================  ==================================================================
"""
