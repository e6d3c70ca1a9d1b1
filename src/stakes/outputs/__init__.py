"""Results that leave the library: text, tables, files, what is kept and read back, and who draws."""
