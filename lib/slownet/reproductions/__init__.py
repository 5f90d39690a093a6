"""Parts that only reproduced articles need: services, clients, small programs, and pages beside the articles."""
