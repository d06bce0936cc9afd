"""From rows of files to models: what commands and config files both do; knows neither."""
