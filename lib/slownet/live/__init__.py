"""`slownet live`: a page that shows a network while programs run in it.

The host serves the page (`server`), knows the network as a value that can be undone, shared and saved (`scene`, `session`), and
starts the place where it runs (`line`). There `inside` changes it, reads its meters and runs programs on its hosts.
"""
