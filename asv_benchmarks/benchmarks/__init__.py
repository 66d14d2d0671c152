"""Benchmarks of dpmlite, run by airspeed velocity: see `asv.conf.json` in the folder above."""
