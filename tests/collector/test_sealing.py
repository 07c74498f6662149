"""Oblivious HTTP as RFC 9458 and Binary HTTP as RFC 9292 say: the RFC's own example, and everything else refused."""

from __future__ import annotations

import secrets
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from pyhpke import KEMKey, KEMKeyPair
from pyhpke.kem_primitives.x25519 import X25519

from bcdp import InputError
from bcdp_device.sealing import (
    GatewayKey,
    HttpRequest,
    HttpResponse,
    MalformedError,
    SealError,
    UnknownKeyError,
    read_request,
    read_response,
    seal,
    write_request,
    write_response,
)

# RFC 9458, appendix A
PRIVATE = bytes.fromhex("3c168975674b2fa8e465970b79c8dcf09f1c741626480bd4c6162fc5b6a98e1a")
PUBLIC = "31e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e798155"
EPHEMERAL = bytes.fromhex("bc51d5e930bda26589890ac7032f70ad12e4ecb37abb1b65b1256c9c48999c73")
REQUEST = bytes.fromhex("00034745540568747470730b6578616d706c652e636f6d012f")
SEALED = bytes.fromhex(
    "010020000100014b28f881333e7c164ffc499ad9796f877f4e1051ee6d31bad19dec96c208b4726374e469135906992e1268c594d2a10c695d"
    "858c40a026e7965e7d86b83dd440b2c0185204b4d63525"
)
NONCE = bytes.fromhex("c789e7151fcba46158ca84b04464910d")
RESPONSE = bytes.fromhex("0140c8")
SEALED_RESPONSE = bytes.fromhex("c789e7151fcba46158ca84b04464910d86f9013e404feea014e7be4a441f234f857fbd")
GATEWAY = GatewayKey(X25519PrivateKey.from_private_bytes(PRIVATE), 1)


def test_the_example_of_the_standard(monkeypatch: pytest.MonkeyPatch) -> None:
    ephemeral = X25519PrivateKey.from_private_bytes(EPHEMERAL)
    pair = KEMKeyPair(*map(KEMKey.from_pyca_cryptography_key, (ephemeral, ephemeral.public_key())))
    monkeypatch.setattr(X25519, "generate_key_pair", lambda self: pair)
    monkeypatch.setattr(secrets, "token_bytes", lambda size: NONCE[:size])
    assert GATEWAY.configuration == f"010020{PUBLIC}000400010001"  # the example's, with the one suite that it uses
    sealed, open_answer = seal(GATEWAY.configuration, REQUEST)
    assert sealed == SEALED
    message, seal_answer = GATEWAY.open(SEALED)
    assert message == REQUEST
    assert seal_answer(RESPONSE) == SEALED_RESPONSE
    assert open_answer(SEALED_RESPONSE) == RESPONSE
    assert read_request(REQUEST) == HttpRequest("GET", "https", "example.com", "/")
    assert read_response(RESPONSE) == HttpResponse(200)


def test_whatever_was_changed_is_not_opened() -> None:
    """Every bit of a message and of its answer, and every shorter one."""
    sealed, open_answer = seal(GATEWAY.configuration, b"a message")
    message, seal_answer = GATEWAY.open(sealed)
    answer = seal_answer(b"an answer")
    assert (message, open_answer(answer)) == (b"a message", b"an answer")
    for data, opened in ((sealed, GATEWAY.open), (answer, open_answer)):
        for place in range(len(data)):
            with pytest.raises(SealError):
                opened(data[:place])
            for bit in range(8):
                changed = data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]
                with pytest.raises(SealError):
                    opened(changed)


def test_two_messages_have_nothing_in_common() -> None:
    first, second = (seal(GATEWAY.configuration, bytes(512))[0] for _ in range(2))
    assert first[:7] == second[:7]  # the key's number and the suite
    pieces = [{sealed[place : place + 8] for place in range(7, len(sealed) - 8)} for sealed in (first, second)]
    assert not pieces[0] & pieces[1]  # by chance in one of 10^13 runs


def test_another_key_opens_nothing() -> None:
    sealed = seal(GATEWAY.configuration, b"a message")[0]
    other = GatewayKey(X25519PrivateKey.generate(), 1)
    with pytest.raises(SealError, match="cannot be opened"):
        other.open(sealed)
    with pytest.raises(UnknownKeyError):
        GatewayKey(X25519PrivateKey.from_private_bytes(PRIVATE), 2).open(sealed)


def test_a_key_is_kept_for_its_owner_alone_and_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "gateway.key"
    made = GatewayKey.make(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert GatewayKey.from_pem(path.read_bytes()).configuration == made.configuration
    assert made.published == bytes([0, 41]) + bytes.fromhex(made.configuration)
    with pytest.raises(InputError, match="not written over"):
        GatewayKey.make(path)
    with pytest.raises(InputError, match="bcdp keypair"):
        GatewayKey.from_pem(b"no key")


def test_no_message_is_sealed_for_a_key_that_everybody_opens() -> None:
    for point in ("00" * 32, "01" + "00" * 31):  # of small order: whatever the secret, the same result
        with pytest.raises(InputError, match=r"relay\.key"):
            seal(f"010020{point}000400010001", b"a message")


WORDS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=80)
FIELDS = st.dictionaries(st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1), WORDS, max_size=4)


@given(WORDS, WORDS, WORDS, FIELDS, st.binary(max_size=20_000), st.integers(200, 599))
def test_messages_are_read_as_they_were_written(
    method: str, authority: str, path: str, fields: dict[str, str], content: bytes, status: int
) -> None:
    request, response = (
        HttpRequest(method, "https", authority, path, fields, content),
        HttpResponse(status, fields, content),
    )
    assert read_request(write_request(request)) == request
    assert read_response(write_response(response)) == response
    assert len(write_request(request)) % 512 == len(write_response(response)) % 512 == 0


@given(st.binary(max_size=200))
def test_other_bytes_are_refused_in_words(data: bytes) -> None:
    for read in (read_request, read_response):
        try:
            read(data)
        except MalformedError:
            continue


@pytest.mark.parametrize("hexadecimal", [
    "",  # nothing
    "02",  # the form of an endless message
    "0003474554",  # ends early
    "00034745540568747470730b6578616d706c652e636f6d012f01",  # fields of one byte, which is not there
    "00034745540568747470730b6578616d706c652e636f6d012f0401410142",  # a name in capitals
    "00034745540568747470730b6578616d706c652e636f6d012f0401610d0a",  # a line's end in a value
    "00034745540568747470730b6578616d706c652e636f6d012f08016101620161016300",  # a field twice
    "00034745540568747470730b6578616d706c652e636f6d012f0000040161016200",  # trailers
    "00034745540568747470730b6578616d706c652e636f6d012f00000001",  # padding that is not zero
    "000347455405687474707300012f",  # no authority
])  # fmt: skip
def test_malformed_requests(hexadecimal: str) -> None:
    with pytest.raises(MalformedError):
        read_request(bytes.fromhex(hexadecimal))


@pytest.mark.parametrize("hexadecimal", ["", "00", "01", "014064", "014258", "0140c801"])
def test_malformed_answers(hexadecimal: str) -> None:
    with pytest.raises(MalformedError):
        read_response(bytes.fromhex(hexadecimal))
