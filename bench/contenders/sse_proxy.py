"""A plain proxy on asyncio: a question goes to the model's server, and its tokens come back as server-sent events.

It keeps nothing, knows no session, and nobody can attach later, or cancel but by leaving.
"""

import asyncio
import json
import sys


async def proxy(model: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0]))
        await ask(model, json.loads(body), writer)
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def ask(model: int, question: dict[str, str], writer: asyncio.StreamWriter) -> None:
    upstream, question_writer = await asyncio.open_connection("127.0.0.1", model)
    try:
        body = json.dumps({"model": "stamps:latest", "messages": [{"role": "user", "content": question["message"]}]})
        question_writer.write(f"POST /api/chat HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        await upstream.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        while size := int(await upstream.readline(), 16):
            said = json.loads(await upstream.readexactly(size))
            await upstream.readexactly(2)
            if not said["done"]:
                event = json.dumps({"type": "assistant.token", "token": said["message"]["content"]})
                writer.write(f"data: {event}\n\n".encode())
                await writer.drain()
        writer.write(b"data: [DONE]\n\n")
        await writer.drain()
    finally:
        question_writer.close()


async def main(port: int, model: int) -> None:
    server = await asyncio.start_server(lambda reader, writer: proxy(model, reader, writer), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:3])))
