/**
 * Seals reports for the collector and sends them to a relay: Oblivious HTTP (RFC 9458) with Binary HTTP (RFC 9292).
 *
 * It is loaded only where a plan names a relay. HPKE is that of @hpke/core, on the browser's own ciphers.
 */

import { hpke } from "../vendor/hpke.js";
import { InputError } from "./checks.js";

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** @typedef {{ status: number, text: string, retryAfter: string | null }} Answer */
/** @typedef {{ body: Bytes, open: (answer: ArrayBuffer | Bytes) => Promise<Answer> }} Sealed */
/** @typedef {{ signal?: AbortSignal, fetch?: typeof globalThis.fetch }} Options */

const REQUEST_TYPE = "message/ohttp-req";
const PUBLIC_BYTES = 32;
const NONCE_BYTES = 16; // of an answer
const UNIT = 512; // a sealed message has a multiple of it, so that its length tells nothing
const HOST = "collector.invalid"; // a request has to name one; the collector that opens it needs none
/** @type {(text: string) => Bytes} */
const ascii = (text) => new TextEncoder().encode(text);

/**
 * A message to the collector, sealed for a plan's `relay.key`: `{ body, open }`; `open` reads the answer.
 * @type {(key: string, message: string) => Promise<Sealed>}
 */
export async function sealReports(key, message) {
  const known = Uint8Array.from(/** @type {string[]} */ (key.match(/../g)), (digits) => parseInt(digits, 16));
  const header = joined(known.slice(0, 3), known.slice(-4)); // the key's number and the suite
  /** @type {any} */
  const suite = new hpke.CipherSuite({
    kem: new hpke.DhkemX25519HkdfSha256(),
    kdf: new hpke.HkdfSha256(),
    aead: new hpke.Aes128Gcm(),
  });
  const recipientPublicKey = await suite.kem.deserializePublicKey(known.slice(3, 3 + PUBLIC_BYTES));
  const info = joined(ascii("message/bhttp request\0"), header);
  const sender = await suite.createSenderContext({ recipientPublicKey, info });
  const sealed = new Uint8Array(await sender.seal(request(message)));
  const secret = await sender.export(ascii("message/bhttp response"), NONCE_BYTES);
  const enc = new Uint8Array(sender.enc);
  return { body: joined(header, enc, sealed), open: (answer) => openAnswer(secret, enc, new Uint8Array(answer)) };
}

/**
 * Sends a message through a plan's relay; the collector's answer `{ status, text, retryAfter }`, or the relay's: 202 of
 * one that mixes, which keeps the message and delivers it later.
 * @type {(relay: { url: string, key: string }, message: string, options?: Options) => Promise<Answer>}
 */
export async function sendSealed({ url, key }, message, { signal, fetch = globalThis.fetch } = {}) {
  const { body, open } = await sealedOnce(key, message);
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": REQUEST_TYPE },
    body,
    signal,
    redirect: "error",
    credentials: "omit",
    referrerPolicy: "no-referrer",
    cache: "no-store",
  });
  const bytes = await response.arrayBuffer();
  if (response.status === 200) return open(bytes);
  const text = new TextDecoder().decode(bytes);
  return { status: response.status, text, retryAfter: response.headers.get("retry-after") };
}

/** @type {Map<string, Promise<Sealed>>} */
const sealedBefore = new Map();

/**
 * The message sealed, the same if it is sent again: a relay that mixes knows a message by its bytes.
 * @type {(key: string, message: string) => Promise<Sealed>}
 */
function sealedOnce(key, message) {
  const known = sealedBefore.get(key + message) ?? sealReports(key, message);
  sealedBefore.set(key + message, known);
  return known;
}

/** @type {(secret: ArrayBuffer, enc: Bytes, answer: Bytes) => Promise<Answer>} */
async function openAnswer(secret, enc, answer) {
  const [nonce, content] = [answer.slice(0, NONCE_BYTES), answer.slice(NONCE_BYTES)];
  const material = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  /** @type {(label: string, bytes: number) => Promise<ArrayBuffer>} */
  const derived = (label, bytes) => {
    const way = { name: "HKDF", hash: "SHA-256", salt: joined(enc, nonce), info: ascii(label) };
    return crypto.subtle.deriveBits(way, material, 8 * bytes);
  };
  const key = await crypto.subtle.importKey("raw", await derived("key", 16), "AES-GCM", false, ["decrypt"]);
  const way = { name: "AES-GCM", iv: await derived("nonce", 12) };
  return response(new Uint8Array(await crypto.subtle.decrypt(way, key, content)));
}

// ---------------------------------------------------------------------------------- the known-length form of a message

/** @type {(message: string) => Bytes} */
function request(message) {
  const fields = joined(part(ascii("content-type")), part(ascii("application/json")));
  const words = ["POST", "https", HOST, "/v1/reports"].map((word) => part(ascii(word)));
  return filled(joined(number(0), ...words, part(fields), part(ascii(message)), part([])));
}

/** @type {(bytes: Bytes) => Answer} */
function response(bytes) {
  let place = 0;
  /** @type {(length: number) => Bytes} */
  const take = (length) => {
    if (place + length > bytes.length) throw malformed();
    place += length;
    return bytes.slice(place - length, place);
  };
  const next = () => {
    const [first] = take(1);
    return take(2 ** (first >> 6) - 1).reduce((value, byte) => value * 256 + byte, first & 0x3f);
  };
  if (next() !== 1) throw malformed();
  const status = next();
  const [fields, content] = [take(next()), take(next())];
  if (status < 200 || status > 599 || bytes.slice(place).some((byte) => byte !== 0)) throw malformed();
  [bytes, place] = [fields, 0];
  const text = new TextDecoder();
  /** @type {Record<string, string>} */
  const named = {};
  while (place < fields.length) named[text.decode(take(next()))] = text.decode(take(next()));
  return { status, text: text.decode(content), retryAfter: named["retry-after"] ?? null };
}

const malformed = () => new InputError("answer: malformed; accepted: the answer of a collector");

/** @type {(...parts: ArrayLike<number>[]) => Bytes} */
function joined(...parts) {
  const all = new Uint8Array(parts.reduce((length, bytes) => length + bytes.length, 0));
  let place = 0;
  for (const bytes of parts) {
    all.set(bytes, place);
    place += bytes.length;
  }
  return all;
}

/** @type {(bytes: ArrayLike<number>) => Bytes} */
const part = (bytes) => joined(number(bytes.length), bytes);
/** @type {(bytes: Bytes) => Bytes} */
const filled = (bytes) => joined(bytes, new Uint8Array((UNIT - (bytes.length % UNIT)) % UNIT));

/**
 * A number below 2^30 in 1, 2 or 4 bytes, as its first two bits say.
 * @type {(value: number) => number[]}
 */
function number(value) {
  if (value < 2 ** 6) return [value];
  if (value < 2 ** 14) return [0x40 | (value >> 8), value & 0xff];
  return [0x80 | (value >>> 24), (value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff];
}
