"""Small programs that run on hosts, for what no packaged program does: `python -m slownet.programs.NAME`.

Each needs the standard library, and at most what lab/packages.txt names. A client prints one JSON object; a server
makes the file that its first argument names as soon as it listens.
"""
