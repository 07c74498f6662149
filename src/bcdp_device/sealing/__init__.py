"""Reports sealed for a collector and forwarded by a relay: Oblivious HTTP (RFC 9458).

The relay sees who sends and not what; the collector sees what is sent and not by whom. HPKE is that of `pyhpke`,
made of the primitives of `cryptography`.
"""

from bcdp_device.sealing.envelope import (
    KEYS_TYPE,
    REQUEST_TYPE,
    RESPONSE_TYPE,
    GatewayKey,
    SealError,
    UnknownKeyError,
    seal,
)
from bcdp_device.sealing.messages import (
    HttpRequest,
    HttpResponse,
    MalformedError,
    read_request,
    read_response,
    write_request,
    write_response,
)

__all__ = [
    "KEYS_TYPE",
    "REQUEST_TYPE",
    "RESPONSE_TYPE",
    "GatewayKey",
    "HttpRequest",
    "HttpResponse",
    "MalformedError",
    "SealError",
    "UnknownKeyError",
    "read_request",
    "read_response",
    "seal",
    "write_request",
    "write_response",
]
