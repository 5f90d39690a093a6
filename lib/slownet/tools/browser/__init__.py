"""A real browser on an emulated host: Chromium, driven by its DevTools protocol, and what it says of a page's load."""
