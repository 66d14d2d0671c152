"""How `MAPDPM` looks for the partition with the least joint.

`Search.best` runs restarts. A restart has three parts:

1. A start. The default, `SampledStart`, clusters a sample of the rows by many short descents and
   combines them by partition crossover; all rows then join the clusters of the sample.
2. A descent. `descend` sweeps over the rows until few of them move, then tries its list of moves:
   merges and splits, exchanges, reseeding, and thorough splits of large clusters. After a move
   that lowers the joint it sweeps again; it ends when no move does.
3. For a table larger than the sample, starts from other samples, each combined with the result.

Each function takes a `Context`, which has the problem and the means, and returns or improves a
`SearchResult`, which has the partition and what it took to find it.

==========================  =====================================================================
file                        has
==========================  =====================================================================
`context`                   rows, family, concentration; random numbers, threads, limits
`progress`                  where steps are told, and what ends the search early
`result`                    a partition, its trace and counts
`search`                    restarts, and the best of their results
`descent`                   the loop over sweeps and moves
`sweeps`                    sweeps, and sweeps in turn with merges
`merge_and_split`           the move that merges and splits clusters
`exchange`                  the move that exchanges rows between neighbours
`thorough_split`            the move that splits large clusters by more of their rows
`reseeding`, `row_costs`    the move that lets the worst-fitting rows found clusters
`partition_crossover`       a partition made of the clusters of two
`starts`                    one cluster, singletons, one pass, random labels
`prefix_starts`             labels found by a search among clusterings of prefixes
`sampled_start`, `samples`  the default start
`seeded_descents`           short descents from random seeds, of which that start is made
`restart_from_sample`       further samples, once a descent has ended
`refinement`                what `DPSearch` does with the labels that it has found
`alpha`, `prior_scales`     choice of the concentration and of the prior's scales
==========================  =====================================================================
"""
