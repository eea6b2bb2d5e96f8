"""The impact of links as one HTML file that needs nothing else: charts, and tables that say the same."""
