"""One model family, one file: how its own configuration becomes a `ModelConfig`.

A family's file has `MODEL_TYPES` (the `model_type` values that it reads), `ARCHITECTURES` (class names, for configs
that carry no `model_type`), and `read(keys: Keys) -> ModelConfig`. What is in no family's file is refused by name.
"""
