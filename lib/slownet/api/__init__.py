"""slownet in Python programs and notebooks: `slownet.run`, `slownet.load`, `slownet.compare`, and what they return."""
