"""Small programs for hosts, where no packaged program exists: `python -m slownet.tools.programs.NAME`.

They need the standard library and at most the packages in lab/build/packages.txt. A client prints one JSON object; a server
creates the file named by its first argument as soon as it listens.
"""
