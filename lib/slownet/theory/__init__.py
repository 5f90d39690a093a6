"""Round trips, times and rates as they follow from protocols, published numbers, and statistics: pure."""
