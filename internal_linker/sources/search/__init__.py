"""Search data from exported files of Search Console, Google Analytics and the tools that read their APIs."""
