"""Files, options and documents become frozen data; the only place that reads or validates."""
