"""Relevance measured on links that editors made: hold-out, backtest, calibration, and the quality of anchors."""
