"""A model from what a person types: a file, a folder, standard input, a catalogue name, a hub id, a parameter count."""
