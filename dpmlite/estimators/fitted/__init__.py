"""What a fit leaves: partitions, numbered clusters, and what is told of them."""
