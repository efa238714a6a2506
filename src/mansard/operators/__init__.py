"""Pure formulas: the shapes of one operator become its cost, as linear forms over the sums of a step."""
