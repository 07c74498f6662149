/** Whom reports are sent to instead of the collector, sealed for it, if the plan names a relay. */

import { keys, refuse, text } from "../checks.js";

const LONGEST_URL = 200;
const URL =
  /^(https:\/\/[a-z0-9]([a-z0-9.-]*[a-z0-9])?|http:\/\/(localhost|127\.0\.0\.1))(:[0-9]{1,5})?(\/[A-Za-z0-9._~-]*)+$/;
const KEY = /^[0-9a-f]{2}0020[0-9a-f]{64}000400010001$/; // a key configuration of RFC 9458 with one suite

/**
 * The relay's address and the collector's key configuration.
 * @type {(path: string, relay: any) => { url: string, key: string }}
 */
export function readRelay(path, relay) {
  keys(path, relay, ["url", "key"]);
  const { url, key } = relay;
  if (text(`${path}.url`, url).length > LONGEST_URL || !URL.test(url)) {
    throw refuse(`${path}.url`, url, `an https address with a path, of at most ${LONGEST_URL} letters`);
  }
  if (!KEY.test(text(`${path}.key`, key))) {
    throw refuse(`${path}.key`, key, "a key configuration of RFC 9458, in hexadecimal");
  }
  return relay;
}
