"""Templates, styles and charts that all reports for browsers share."""
