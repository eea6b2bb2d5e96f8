"""Templates, styles and charts that all HTML reports share."""
