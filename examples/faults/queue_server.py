"""A queue over TCP that keeps what it is given in a file: `python3 queue_server.py PORT FILE ACKNOWLEDGE`.

A client sends "PUT 7" and gets "OK", or sends "ALL" and gets all values as a JSON list. Values are written to the file
together, after 20 ms, because fsync is slow on a real disk. ACKNOWLEDGE says when "OK" comes: "early" is at once, "written"
once the value is in the file, "synced" once the file is on the disk. Early, the queue loses what it has acknowledged if it is
killed within these 20 ms; written, if power goes before the kernel has written the file to the disk.
"""

import asyncio
import json
import os
import sys

TOGETHER_S = 0.02


class Queue:
    """The values in the file, and those that are still in this process's memory."""

    def __init__(self, path, syncs):
        self.syncs = syncs
        self.file = open(path, "a+")
        self.file.seek(0)
        self.values = [int(line) for line in self.file.read().split("\n")[:-1]]
        self.unwritten = []
        self.written = None

    def put(self, value):
        """Add a value; return what is done when it is in the file."""
        self.values.append(value)
        self.unwritten.append(value)
        if self.written is None:
            self.written = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_later(TOGETHER_S, self.write)
        return self.written

    def write(self):
        """Write all new values to the file, and wait for the disk if it shall be synced."""
        self.file.write("".join(f"{value}\n" for value in self.unwritten))
        self.file.flush()
        if self.syncs:
            os.fsync(self.file.fileno())
        self.written.set_result(None)
        self.unwritten, self.written = [], None


async def serve(queue, is_early, reader, writer):
    """Answer one client."""
    while line := await reader.readline():
        verb, _, value = line.decode().strip().partition(" ")
        if verb == "PUT":
            written = queue.put(int(value))
            if not is_early:
                await written
        writer.write((json.dumps(queue.values) if verb == "ALL" else "OK").encode() + b"\n")
        await writer.drain()
    writer.close()


async def main(port, path, acknowledge):
    """Serve for ever."""
    queue = Queue(path, syncs=acknowledge != "written")
    server = await asyncio.start_server(lambda *streams: serve(queue, acknowledge == "early", *streams), port=int(port))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
