"""MAP-DPM on rows that lie in chunks, on one machine or many: an engine-neutral core.

A chunk is some rows of a table. Its rows and their labels stay where they are. Between chunks and
driver travel statistics of clusters, and bounded samples of rows.

1. `ChunkedPartition.start`: each row joins the cluster of a sample that predicts it best.
2. `ChunkedPartition.sweep`: each chunk sweeps over its rows beside the statistics of all others,
   as a partition with absorbed groups. The driver adds statistics, and merges clusters while that
   lowers the exact joint.
3. `resample` and `divide` gather some rows, and search among them on the driver. What is found is
   a proposal. Chunks count the common refinement of it and their labels, and the driver merges
   the refinement by statistics alone: a partition crossover. It is kept if the joint of all rows
   falls.

=====================  ============================================================================
file                   has
=====================  ============================================================================
`engine`               the interface of an engine, and engines for one machine
`protocols`            what the core asks of tables and models
`statistics`           statistics of clusters as arrays: sums, and what is left without a chunk
`steps`                pure functions that run where a chunk is
`chunked_partition`    labels of all rows, as the driver sees them
`proposals`            clusters that are found among gathered rows
`descent`              the loop over sweeps and proposals
=====================  ============================================================================
"""
