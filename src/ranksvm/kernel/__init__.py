"""Kernel rankers: kernels as features by Cholesky; knows nothing of files."""
