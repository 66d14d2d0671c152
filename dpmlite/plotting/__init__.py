"""Pictures of clusters. They need matplotlib, which is imported when the first is drawn."""

from dpmlite.plotting.cluster_tree import plot_cluster_tree
from dpmlite.plotting.clusters import plot_clusters
from dpmlite.plotting.curves import plot_alpha, plot_trace
from dpmlite.plotting.dendrogram import plot_dendrogram
from dpmlite.plotting.density import plot_density
from dpmlite.plotting.posterior import plot_co_clustering, plot_n_clusters
from dpmlite.plotting.profiles import plot_profiles
from dpmlite.plotting.style import COLOURS, MARKERS, check_picture, require_matplotlib

__all__ = [
    "COLOURS",
    "MARKERS",
    "check_picture",
    "plot_alpha",
    "plot_cluster_tree",
    "plot_clusters",
    "plot_co_clustering",
    "plot_dendrogram",
    "plot_density",
    "plot_n_clusters",
    "plot_profiles",
    "plot_trace",
    "require_matplotlib",
]
