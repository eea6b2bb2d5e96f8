"""Editors' decisions: the Review tab, the workbook and the terminal session."""
