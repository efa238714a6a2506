"""FOLDER-OF-ONE-THING: what sees and hears in one composite model, attached to its language model.

Each module has `MODEL_TYPES` and `attach(keys, model)`, which reads the parts of the whole configuration that are not
the language model's and returns the model with them. Files that begin with an underscore are towers that several share.
"""
