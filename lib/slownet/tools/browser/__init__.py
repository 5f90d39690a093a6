"""A real browser on an emulated host: Chromium, driven by its DevTools protocol, and its record of a page's load."""
