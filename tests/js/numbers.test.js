// Typed numbers: what each spelling means on a page of each language; two numbers are a question, none is a refusal.
import assert from "node:assert/strict";
import test from "node:test";

import { meantBy, readBack, readings } from "../../src/bcdp/web/survey/numbers.js";

const OPEN = { orMore: ["or more", "+"], orLess: ["or less"] };

const LANGUAGES = ["en", "de", "fr", "es", "ar"];
const both = [41000, 41]; // the person is asked
// a spelling, and what it means in English, German, French, Spanish and Arabic; one entry if it is the same in all
const SPELLINGS = [
  ["41000", 41000],
  ["41,000", 41000, both, both, both, 41000],
  ["41.000", both, 41000, both, 41000, both],
  ["41 000", 41000],
  ["41\u00a0000", 41000],
  ["41\u202f000", 41000],
  ["41\u2009000", 41000],
  ["41'000", 41000],
  ["41’000", 41000],
  ["41000,5", 41000.5],
  ["41000.5", 41000.5],
  ["41,000.50", 41000.5],
  ["41.000,50", 41000.5],
  ["41 000,50", 41000.5],
  ["41 000.50", 41000.5],
  ["1,234,567", 1234567],
  ["1.234.567", 1234567],
  ["1 234 567", 1234567],
  ["12,34,567", 1234567],
  ["1,234.567", 1234.567],
  ["1.234,567", 1234.567],
  ["0,500", 0.5],
  ["0.500", 0.5],
  ["1234,567", 1234.567],
  ["41,00", 41],
  ["٤١٠٠٠", 41000],
  ["٤١٬٠٠٠", 41000],
  ["٤١٬٠٠٠٫٥", 41000.5],
  ["٤١٫٠٠٠", 41],
  ["۴۱۰۰۰", 41000],
  ["\u200f٤١\u200e", 41],
  ["-5", -5],
  ["−5", -5],
  ["+5", 5],
  ["  7  ", 7],
  ["007", 7],
  ["0x10"],
  ["1e5"],
  ["41k"],
  ["41,00,0"],
  ["4,1,000"],
  ["1,2345.6,7"],
  ["41 00"],
  ["41,000,00"],
  ["5-"],
  ["--5"],
  [".5"],
  ["5."],
  ["½"],
  ["Infinity"],
  ["NaN"],
  [""],
  ["$41"],
  ["٤١x"],
];

test("spellings in five languages", () => {
  assert.ok(SPELLINGS.length >= 40);
  for (const [spelling, ...meant] of SPELLINGS) {
    LANGUAGES.forEach((language, place) => {
      const expected = meant.length === 0 ? [] : [meant[meant.length === 1 ? 0 : place]].flat();
      assert.deepEqual(readings(spelling, language), expected, `${spelling} in ${language}`);
    });
  }
});

test("what does not fit is not asked about", () => {
  const within = (low, high) => (number) => number >= low && number <= high;
  assert.deepEqual(readings("44.000", "en", within(18, 100)), [44]);
  assert.deepEqual(readings("44.000", "en", within(1000, 100_000)), [44000]);
  assert.deepEqual(readings("44.000", "en", within(0, 100_000)), [44000, 44]);
  assert.deepEqual(readings("44.000", "en", within(1, 2)), [44000, 44]); // no reading fits: a mistake, whichever it is
});

test("a currency, and what is left open beyond a bound", () => {
  const meant = (text, bounds = [0, 200_000]) => meantBy(text, { code: "en", ...OPEN }, bounds);
  assert.deepEqual(meant("€41,000"), [41000]);
  assert.deepEqual(meant("41,000 $"), [41000]);
  assert.deepEqual(meant("$ €5"), []);
  assert.deepEqual(meant("200,000 or more"), [200000]);
  assert.deepEqual(meant("250,000 OR MORE"), [250000]);
  assert.deepEqual(meant("199,999 or more"), []); // says less than a number
  assert.deepEqual(meant("18 or less", [18, 100]), [18]);
  assert.deepEqual(meant("19 or less", [18, 100]), []);
  assert.deepEqual(meant("or more"), []);
});

test("numbers are read back as the language writes them, large ones in words too", () => {
  assert.equal(readBack(41000, "en"), "41,000 (41 thousand)");
  assert.equal(readBack(41000, "de"), "41.000 (41 Tausend)");
  assert.equal(readBack(41250, "es"), "41.250 (41,25 mil)");
  assert.equal(readBack(44, "fr"), "44");
  assert.equal(readBack(0.5, "de"), "0,5");
  for (const language of LANGUAGES) {
    for (const number of [41, 999, 0.5, -5]) assert.deepEqual(readings(readBack(number, language), language), [number]);
    for (const number of [41000, 1234567, 10000.25]) {
      assert.deepEqual(
        readings(readBack(number, language).replace(/ \(.*/, ""), language),
        [number],
        `${number} ${language}`,
      );
    }
  }
});
