"""What reproduced articles need and others do not: services, clients, small programs, and pages beside the articles."""
