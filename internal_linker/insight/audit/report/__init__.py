"""The audit report: one self-contained HTML file with tables and ECharts charts."""
