"""A server on loopback that speaks the chat-completions protocol, badly where it is told to.

What it says to a call depends on the call's key (the header ``Idempotency-Key``) and on how often
that key has been asked about, and on nothing else: two runs that ask the same questions get the
same answers, in whatever order they ask.
"""

import asyncio
import hashlib
import json
import threading
import time
from collections import Counter


def dice(*parts):
    """A number in [0, 1) that depends on `parts` only."""
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


class ChatServer:
    """Answers ``POST /v1/chat/completions``.

    Shares `errors`, `hangs` and `garbage` of the first attempts at a key get a status of 500 or
    429, no answer for `hang` seconds, and an answer without a score. With `refuses`, every answer
    is a 401 that echoes the caller's key, as careless gateways do.
    """

    def __init__(self, errors=0.0, hangs=0.0, garbage=0.0, hang=5.0, latency=0.0, refuses=False):
        self.refuses = refuses
        self.errors, self.hangs, self.garbage = errors, hangs, garbage
        self.hang, self.latency = hang, latency
        self.asked, self.answered = Counter(), Counter()
        self.in_flight = self.most_in_flight = 0
        self.prompts = []

    def __enter__(self):
        ready = threading.Event()

        def serve():
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
            self.server = self.loop.run_until_complete(
                asyncio.start_server(self.connection, "127.0.0.1", 0, backlog=512)
            )
            self.port = self.server.sockets[0].getsockname()[1]
            ready.set()
            self.loop.run_forever()
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.loop.run_until_complete(asyncio.sleep(0.01))
            self.loop.close()

        self.thread = threading.Thread(target=serve, daemon=True)
        self.thread.start()
        ready.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.server.close)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def forget(self):
        """Count from nothing, for another run that asks the same."""
        self.asked.clear()
        self.answered.clear()
        self.prompts.clear()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    async def connection(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                pairs = [line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line]
                headers = {name.lower(): value for name, value in pairs}
                body = json.loads(await reader.readexactly(int(headers["content-length"])))
                if self.refuses:
                    words = f"no account for {headers.get('authorization')}"
                    await send(writer, 401, {"error": {"message": words}})
                    continue
                await self.reply(writer, headers.get("idempotency-key", ""), body)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def reply(self, writer, key, body):
        self.asked[key] += 1
        self.prompts.append(body["messages"][0]["content"])
        first = self.asked[key] == 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.latency)
            luck = dice(key, "luck") if first else 1.0
            if luck < self.errors:
                status = 500 if luck < self.errors / 2 else 429
                return await send(writer, status, {"error": {"message": "try again"}})
            if luck < self.errors + self.hangs:
                await asyncio.sleep(self.hang)
            text = self.say(key, body["model"])
        finally:
            self.in_flight -= 1
        await send(
            writer,
            200,
            {
                "id": f"chatcmpl-{self.asked.total()}",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": body["model"],
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": text},
                        "finish_reason": "stop",
                    }
                ],
                "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11},
            },
        )
        self.answered[key] += 1
        return None

    def say(self, key, model):
        if dice(key, "garbage") < self.garbage:
            return "I would rather not say."
        drawn = dice(key, model, "score")
        return f"Score: {1 + sum(drawn > edge for edge in (0.05, 0.15, 0.4, 0.8))}"


async def send(writer, status, content):
    body = json.dumps(content).encode()
    head = (
        f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: keep-alive\r\n\r\n"
    )
    writer.write(head.encode() + body)
    await writer.drain()


async def complete(port, content, key, model="loopback"):
    """Ask the server; the answer's text. A minimal client, so that no test needs another."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        body = json.dumps({"model": model, "messages": [{"role": "user", "content": content}]})
        writer.write(
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {key}\r\n"
            f"Content-Length: {len(body.encode())}\r\n\r\n{body}".encode()
        )
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(int(line.split(": ")[1]) for line in head.split("\r\n") if "Length" in line)
        answer = json.loads(await reader.readexactly(length))
        if " 200 " not in head.split("\r\n")[0]:
            raise ConnectionError(head.split("\r\n")[0])
        return answer["choices"][0]["message"]["content"]
    finally:
        writer.close()
