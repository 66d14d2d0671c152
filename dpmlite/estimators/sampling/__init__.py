"""Chains of partitions, and the partition that stands for their samples."""
