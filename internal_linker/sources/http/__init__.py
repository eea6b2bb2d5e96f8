"""The HTTP client and its limits: retries, rate limiter, circuit breaker and budget."""
