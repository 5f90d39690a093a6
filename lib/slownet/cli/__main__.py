"""The program `slownet` as `python -m slownet.cli`."""

from slownet.cli.app import main

main()
