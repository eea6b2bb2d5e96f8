"""The options of every command, declared once for the command line, Python and the web."""
