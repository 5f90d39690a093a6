"""Recordings of networks: reads and summarises them, and turns them into schedules and conditions."""
