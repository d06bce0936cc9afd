"""Training on a cluster of Dask: rows stay on the workers, steps go to them and sums come back."""
