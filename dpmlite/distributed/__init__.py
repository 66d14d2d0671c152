"""MAP-DPM on rows that lie in chunks, on one machine or many: an engine-neutral core.

A chunk is some rows of a table. Its rows and their labels stay where they are. Between chunks and
driver travel statistics of clusters, and bounded samples of rows.

1. `ChunkedPartition.start`: each row joins the cluster of a sample that predicts it best.
2. `ChunkedPartition.sweep`: each chunk sweeps over its rows beside the statistics of all others,
   as a partition with absorbed groups. The driver adds statistics, and merges clusters while that
   lowers the exact joint.
3. `proposed` gathers some rows of groups of clusters, and searches among them on the driver. What
   is found is a proposal. Chunks count the common refinement of it and their labels, and the driver
   merges the refinement by statistics alone: a partition crossover. It is kept if the joint of all
   rows falls.
4. `proposed_for_worst_rows` gathers the rows that fit their clusters worst, where clusters that
   lie in the tails of others are many rows, and searches among them beside all other rows.
5. `restart` sets out from another sample. Its clusters are a proposal for those that were found
   before, or these for them.

=====================  ============================================================================
file                   has
=====================  ============================================================================
`engine`               the interface of an engine, and engines for one machine
`protocols`            what the core asks of tables and models
`statistics`           statistics of clusters: arrays, sums, and what is left without a chunk
`steps`                pure functions that run where a chunk is
`chunked_partition`    labels of all rows, as the driver sees them
`proposals`            clusters that are found among gathered rows
`dissolution`          clusters whose rows cost less in others
`searched_clusters`    memory of clusters whose rows were searched
`attempts`             changes that are kept if the joint falls: crossovers, restarts
`descent`              the loop over sweeps and attempts
=====================  ============================================================================
"""
