"""One verb per file: its answer in every form, which the command line, the page, REST and agents only pass on."""
