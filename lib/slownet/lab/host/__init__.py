"""The machine that labs share: its processors, memory, counter of instructions, and what it can do."""
