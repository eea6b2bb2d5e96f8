"""The outside services and files, one a file; library errors become ours at this boundary."""
