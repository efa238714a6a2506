"""One verb per file: its answer in every form, which the command line, the page, REST and agents only pass on."""

# What each verb answers, for lists of them that need not import them all.
SAYS = {
    "analyze": "What limits each phase, how fast at best, what fits, what helps.",
    "explain": "The same as arithmetic that can be followed by hand.",
    "advise": "Every change that could help, ranked, with the gain of each.",
    "saturate": "The batch at which compute catches up, or never and why.",
    "operator": "One operator alone: loads, work, stores, intensity, bound.",
    "request": "The arithmetic of a request from given numbers.",
    "list": "What there is: models, devices, engines, formats, operators, charts.",
    "show": "Everything known of a device or a model.",
    "cite": "Where the numbers of a device or a model come from.",
    "schema": "The JSON Schema of an output.",
}
