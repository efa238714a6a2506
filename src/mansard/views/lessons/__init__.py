"""One lesson per file: something to predict, a figure, a worked example, exercises that are checked."""
