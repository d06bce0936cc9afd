"""
Every claim about speed, measured.

Each script runs as ``python -m benchmarks.NAME`` from the folder above.
"""
