"""Requests and answers as bytes: the known-length form of Binary HTTP (RFC 9292), read strictly.

What is written is filled up with zeros to a multiple of 512 bytes, so that a sealed message's length reveals nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_REQUEST, _RESPONSE = 0, 1  # what the form is, at the beginning
_UNIT = 512  # bytes
_NAME = re.compile(rb"[a-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(rb"[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?")
_WORD = re.compile(rb"[\x21-\x7e]+")


class MalformedError(ValueError):
    """Bytes that are no message."""


@dataclass(frozen=True)
class HttpRequest:
    """A request; names of fields are in lower case."""

    method: str
    scheme: str
    authority: str
    path: str
    fields: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""


@dataclass(frozen=True)
class HttpResponse:
    """An answer; names of fields are in lower case."""

    status: int
    fields: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""


def write_request(request: HttpRequest) -> bytes:
    """The request as bytes.

    >>> read_request(write_request(HttpRequest("POST", "https", "example.org", "/", content=b"{}"))).content
    b'{}'
    """
    control = b"".join(_part(word.encode()) for word in (request.method, request.scheme, request.authority))
    return _filled(_number(_REQUEST) + control + _part(request.path.encode()) + _rest(request.fields, request.content))


def write_response(response: HttpResponse) -> bytes:
    """The answer as bytes.

    >>> read_response(write_response(HttpResponse(200, content=b"{}"))).status
    200
    """
    return _filled(_number(_RESPONSE) + _number(response.status) + _rest(response.fields, response.content))


def read_request(data: bytes) -> HttpRequest:
    """The request that the bytes are; raises `MalformedError` if they are none."""
    reader = _Reader(data)
    reader.begins(_REQUEST)
    words = [reader.part() for _ in range(4)]
    if not all(_WORD.fullmatch(word) for word in words):
        raise MalformedError("malformed: a method, scheme, authority or path")
    fields, content = reader.rest()
    method, scheme, authority, path = (word.decode("ascii") for word in words)
    return HttpRequest(method, scheme, authority, path, fields, content)


def read_response(data: bytes) -> HttpResponse:
    """The final answer that the bytes are; raises `MalformedError` if they are none."""
    reader = _Reader(data)
    reader.begins(_RESPONSE)
    status = reader.number()
    if not 200 <= status <= 599:
        raise MalformedError("malformed: not the status of a final answer")
    return HttpResponse(status, *reader.rest())


class _Reader:
    """Reads bytes from the left; what is missing at the end of a message is empty, what follows it is zeros."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def begins(self, form: int) -> None:
        if self.number() != form:
            raise MalformedError("malformed: another form of message")

    def number(self) -> int:
        """A number in 1, 2, 4 or 8 bytes, as the first two bits say."""
        first = self._take(1)[0]
        rest = self._take((1 << (first >> 6)) - 1)
        return int.from_bytes(bytes([first & 0x3F]) + rest, "big")

    def part(self) -> bytes:
        """A number, and so many bytes."""
        return self._take(self.number())

    def rest(self) -> tuple[dict[str, str], bytes]:
        """The fields and the content, after which nothing but zeros may follow: trailers are not accepted."""
        fields, content = self._section(), self._section()
        if any(self._data[self._place :]):
            raise MalformedError("malformed: something follows the content")
        headers = dict[str, str]()
        lines = _Reader(fields)
        while lines._place < len(fields):
            name, value = lines.part(), lines.part()
            if not _NAME.fullmatch(name) or (value and not _VALUE.fullmatch(value)) or name.decode() in headers:
                raise MalformedError("malformed: a field, or one that is there twice")
            headers[name.decode("ascii")] = value.decode("latin-1")
        return headers, content

    def _section(self) -> bytes:
        return self.part() if self._place < len(self._data) else b""

    def _take(self, length: int) -> bytes:
        taken = self._data[self._place : self._place + length]
        self._place += length
        if len(taken) < length:
            raise MalformedError("malformed: it ends early")
        return taken


def _rest(fields: Mapping[str, str], content: bytes) -> bytes:
    lines = b"".join(_part(name.encode()) + _part(value.encode("latin-1")) for name, value in fields.items())
    return _part(lines) + _part(content) + _part(b"")


def _filled(data: bytes) -> bytes:
    return data + bytes(-len(data) % _UNIT)


def _part(data: bytes) -> bytes:
    return _number(len(data)) + data


def _number(value: int) -> bytes:
    for exponent in range(4):
        size = 1 << exponent
        if value < 1 << (8 * size - 2):
            return (value | exponent << (8 * size - 2)).to_bytes(size, "big")
    raise ValueError(f"{value} has more than 62 bits")
