"""Parts of `MAPDPM`: its parameters, fits in memory, in chunks and in streams."""
