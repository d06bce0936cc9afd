"""Every solution of the kernel RankSVM as lambda falls, by events; knows no estimator."""
