"""One way of storing weights per file: `METHODS`, and `read(keys)` that makes a `Scheme` of a quantization_config."""
