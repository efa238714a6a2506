"""The command line: a thin skin over the Python functions. One command, one file; the folder is the registry."""

import sys
from collections.abc import Sequence

from mansard.cli._group import Mansard

EPILOG = (
    "MODEL is a config.json or its folder, a name of the catalogue (mansard list models), params=8e9 or - for standard "
    "input; DEVICE a name of the catalogue (mansard list devices), a .toml file or peak=990e12,bandwidth=3.35e12. "
    'Shell completion: eval "$(_MANSARD_COMPLETE=bash_source mansard)", or zsh_source, fish_source.'
)

root = Mansard(
    name="mansard",
    help="What limits an AI-inference workload, how fast it can be at best, and which change would help most.",
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def main(words: Sequence[str] | None = None) -> None:
    """Runs the command line and leaves with its exit status."""
    sys.exit(root.main(None if words is None else list(words), prog_name="mansard", standalone_mode=False))
