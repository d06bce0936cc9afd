"""Data of the benchmarks: each generator is a deterministic function of its sizes and a seed."""
