"""Parts of `BayesianHierarchicalClustering`: how its trees grow, and what else they hold."""
