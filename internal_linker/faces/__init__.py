"""What people and programs use: the command line, Python, the app and the tools for assistants."""
