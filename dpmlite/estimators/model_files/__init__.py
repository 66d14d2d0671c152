"""Files of fitted models: how they are written, and what is checked before one is used."""
