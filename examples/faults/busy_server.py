"""A server that can do 50 requests a second, one after the other: `python3 busy_server.py PORT`.

A client connects, sends a line, and gets it back when its turn comes, 20 ms of work later. Up to 100 requests wait; those that
come when so many do are answered with "busy" at once. The server does what it was asked even if nobody waits for it any more.
"""

import asyncio
import sys
from contextlib import suppress

WORK_S, WAITING = 0.02, 100


async def work(waiting):
    """Answer the requests in the order in which they came."""
    while True:
        line, writer = await waiting.get()
        await asyncio.sleep(WORK_S)
        answer(writer, line)


def answer(writer, line):
    """Send an answer, which may arrive nowhere."""
    writer.write(line)
    writer.close()


async def main(port):
    """Serve for ever."""
    waiting = asyncio.Queue(WAITING)

    async def take(reader, writer):
        with suppress(ConnectionError):
            if not (line := await reader.readline()):
                writer.close()
            elif waiting.full():
                answer(writer, b"busy\n")
            else:
                waiting.put_nowait((line, writer))

    async with await asyncio.start_server(take, port=int(port)):
        await work(waiting)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
