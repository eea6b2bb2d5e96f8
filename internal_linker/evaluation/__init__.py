"""Relevance measured on links that editors made: hold-out, backtest and calibration."""
