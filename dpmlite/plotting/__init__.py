"""Pictures of clusters. They need matplotlib, which is imported when the first is drawn."""

from dpmlite.plotting.clusters import plot_clusters
from dpmlite.plotting.dendrogram import plot_dendrogram
from dpmlite.plotting.density import plot_density
from dpmlite.plotting.profiles import plot_profiles
from dpmlite.plotting.style import COLOURS, MARKERS, check_picture, require_matplotlib

__all__ = [
    "COLOURS",
    "MARKERS",
    "check_picture",
    "plot_clusters",
    "plot_dendrogram",
    "plot_density",
    "plot_profiles",
    "require_matplotlib",
]
