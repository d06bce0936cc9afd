"""Kernel rankers: kernels as features of a linear one, by Cholesky; knows no file."""
