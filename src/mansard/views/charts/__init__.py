"""One chart per file: a result goes in, a Vega-Lite description comes out; nothing is computed but positions."""
