"""A lab that runs: its boot, the frames between lab and host, its clock, shares and confinement, and one face of all places."""
