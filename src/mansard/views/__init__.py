"""Results for people: tables, arithmetic that can be followed by hand, and rows for other programs."""
