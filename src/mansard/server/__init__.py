"""REST, the page and agents on loopback: the same verbs, and the same answers."""
