/**
 * Numbers as people write them. A point, a comma, a space or an apostrophe may divide thousands, a point or a comma may
 * begin the decimals; the page's language decides, unless the number itself shows it. What may be meant in two ways is
 * not guessed.
 */

/** @type {Record<string, string>} */
const THOUSANDS = { en: ",", de: ".", fr: " ", es: ".", ar: "," }; // as a language divides them
const SIGNED = /^([-+]?)([0-9]+(?:[.,' ٫٬][0-9]+)*)$/;
const POINTS = [null, ".", ",", "٫"]; // with which decimals may begin

/**
 * The numbers that a text may mean on a page of this language, the largest first: two of them where the person must be
 * asked, none where the text is no number. A reading for which `fits` is false counts only if there is no other.
 * @type {(text: string, language: string, fits?: (number: number) => boolean) => number[]}
 */
export function readings(text, language, fits = () => true) {
  const [, sign, digits] = SIGNED.exec(plain(text)) ?? [];
  if (digits === undefined) return [];
  const found = POINTS.flatMap((point) => split(digits, point).map((number) => ({ point, number: Number(number) })));
  const mark = THOUSANDS[language] ?? THOUSANDS.en;
  const meant = found.filter(({ point }) => point !== mark); // 41,000 in English, 41.000 in German are thousands
  const numbers = (meant.length ? meant : found).map(({ number }) => (sign === "-" ? -number : number));
  const different = [...new Set(numbers)].sort((a, b) => Math.abs(b) - Math.abs(a));
  const fitting = different.filter(fits);
  return fitting.length ? fitting : different;
}

/**
 * The numbers that a text may mean as an answer between two bounds, in the page's words. A currency may stand next to it,
 * and `or more` after it where it is the upper bound or beyond: that says no more than the answer itself.
 * @type {(text: string, words: Pick<import("../words/choose.js").Spoken, "code" | "orMore" | "orLess">,
 *   bounds: readonly number[]) => number[]}
 */
export function meantBy(text, { code, orMore, orLess }, [low, high]) {
  const bare = text
    .trim()
    .replace(/^\p{Sc}|\p{Sc}$|\p{Sc}(?= )/u, "")
    .trim();
  /** @type {(number: number) => boolean} */
  const fits = (number) => number >= low && number <= high;
  const ends = /** @type {const} */ ([
    [orMore, (/** @type {number} */ number) => number >= high],
    [orLess, (/** @type {number} */ number) => number <= low],
  ]);
  for (const [word, isBeyond] of ends) {
    const tail = word.find((each) => bare.toLocaleLowerCase(code).endsWith(each));
    if (tail) return readings(bare.slice(0, -tail.length), code, fits).filter(isBeyond);
  }
  return readings(bare, code, fits);
}

/**
 * The text with ordinary digits, signs, spaces and apostrophes in place of the many there are.
 * @type {(text: string) => string}
 */
function plain(text) {
  return text
    .replace(/[\u061c\u200e\u200f]/g, "") // marks of direction
    .replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .replace(/[\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) - 0x6f0))
    .replace(/[\u00a0\u2007\u2009\u202f]/g, " ")
    .replace(/[\u2019\u02bc]/g, "'")
    .replace(/\u2212/g, "-")
    .replace(/\u060c/g, ",")
    .trim();
}

/**
 * The number that the digits are if decimals begin at `point` (null: there are none), as a list of at most one text.
 * @type {(digits: string, point: string | null) => string[]}
 */
function split(digits, point) {
  const [whole, ...decimals] = point === null ? [digits] : digits.split(point);
  const once = decimals.length === (point === null ? 0 : 1) && decimals.every((part) => /^[0-9]+$/.test(part));
  return once && isGrouped(whole) ? [[whole.replace(/[^0-9]/g, ""), ...decimals].join(".")] : [];
}

/**
 * Whether a whole number is not divided, or by one mark: in threes, or with commas as in India.
 * @type {(whole: string) => boolean}
 */
function isGrouped(whole) {
  const [mark] = /[^0-9]/.exec(whole) ?? [];
  if (mark === undefined) return true;
  const [first, ...groups] = whole.split(mark);
  const last = groups.pop() ?? "";
  /** @type {(head: number, inner: RegExp) => boolean} */
  const sized = (head, inner) =>
    /^[1-9]/.test(first) && first.length <= head && groups.every((group) => inner.test(group));
  const divided = sized(3, /^[0-9]{3}$/) || (mark === "," && groups.length > 0 && sized(2, /^[0-9]{2}$/));
  return mark !== "٫" && /^[0-9]{3}$/.test(last) && divided;
}

/**
 * A number with all its digits, as the language writes it.
 * @type {(number: number, language: string) => string}
 */
export const digitsOf = (number, language) => number.toLocaleString(language, { maximumFractionDigits: 20 });

/**
 * A number to read back: as the language writes it, and large ones also in words ("41 thousand").
 * @type {(number: number, language: string) => string}
 */
export function readBack(number, language) {
  const digits = digitsOf(number, language);
  if (Math.abs(number) < 1000) return digits;
  /** @type {Intl.NumberFormatOptions} */
  const long = { notation: "compact", compactDisplay: "long", maximumFractionDigits: 20 };
  const words = number.toLocaleString(language, long);
  return words === digits ? digits : `${digits} (${words})`;
}
