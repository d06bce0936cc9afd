"""Every solution of the kernel RankSVM, by events: the regularization path."""
