"""Files that RankSVM reads and writes."""
