"""From rows of files to models and figures: what the command line and config files both do."""
