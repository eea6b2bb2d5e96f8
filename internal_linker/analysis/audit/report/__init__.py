"""An audit as one HTML file that needs nothing else: tables, and charts drawn by the ECharts inside it."""
