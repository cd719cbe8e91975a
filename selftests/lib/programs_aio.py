#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""asyncio as server and client: programs_aio.py serve|ask ADDRESS PORT"""
import asyncio
import sys


async def answer(reader, writer):
    while line := await reader.readline():
        writer.write(b"you said " + line)
        await writer.drain()
    writer.close()


async def serve(address, port):
    server = await asyncio.start_server(answer, address, port)
    await server.serve_forever()


async def one(address, port, number):
    reader, writer = await asyncio.open_connection(address, port)
    writer.write(b"%d\n" % number)
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return line == b"you said %d\n" % number


async def ask(address, port):
    done = await asyncio.gather(*(one(address, port, n) for n in range(20)))
    print(sum(done), "answers")

asyncio.run({"serve": serve, "ask": ask}[sys.argv[1]](sys.argv[2], int(sys.argv[3])))
