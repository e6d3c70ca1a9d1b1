"""What every face shares: numbers in words, harmless text, tables in every form, and who draws a result."""
