"""One family of diffusion components, one file: how its configuration becomes the parts of its work at a size.

A family's file has `CLASSES` (the values of `_class_name` that it reads) and `read(keys: Keys) -> Component`. What is
in no family's file is refused by name.
"""
