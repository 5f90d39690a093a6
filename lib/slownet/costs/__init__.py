"""The catalogue of delays: operations of real programs, and the round trips that each waits for."""
