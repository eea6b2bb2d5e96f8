"""The app: pages in the browser and a JSON API, each route of which calls one use case."""
