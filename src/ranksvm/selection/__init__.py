"""The choice of C and the like: folds, scoring, cross-validation; no file, no estimator."""
