"""Exercises for classes: answer keys, attempts, marks, gradebooks, and autograders that other programs run."""
