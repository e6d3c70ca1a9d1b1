"""Output of results: text, tables, files, serialisation, and the hooks of displays and reports."""
