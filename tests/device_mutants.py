"""Mistakes that one could make in the browser's device, one at a time; the tests in tests/js must notice each."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ANSWER, CHECKS, FEATURES, PLAN = "device/answer.js", "device/checks.js", "device/features.js", "device/plan.js"
EXACT, CERTIFICATE, QUESTIONS, TABLES = (
    "device/exact.js",
    "device/certificate.js",
    "device/questions.js",
    "device/tables.js",
)
LEDGER, PROMISE, SURVEY, TELL = "device/ledger.js", "device/promise.js", "device/survey.js", "device/tell.js"
EXPLAIN, NUMBERS, SPELLING = "device/explain.js", "survey/numbers.js", "device/spelling.js"

# what is wrong; the file; a text that stands in it once; what stands there instead
MUTANTS: list[tuple[str, str, str, str]] = [
    (
        "words from Math.random",
        ANSWER,
        "crypto.getRandomValues(words.subarray(start, start + MOST_WORDS));",
        "for (let i = start; i < words.length; i += 1) words[i] = Math.random() * 2 ** 32;",
    ),
    ("words of 31 bits", ANSWER, "  return words;\n}", "  return words.map((word) => word >>> 1);\n}"),
    ("words left at 0", ANSWER, "start < words.length; start += MOST_WORDS", "start < 1; start += MOST_WORDS"),
    ("too many words at once", ANSWER, "const MOST_WORDS = 2 ** 14;", "const MOST_WORDS = 2 ** 20;"),
    (
        "an id from Math.random",
        ANSWER,
        "hexadecimal(crypto.getRandomValues(new Uint8Array(16)))",
        "hexadecimal(Uint8Array.from({ length: 16 }, () => Math.random() * 256))",
    ),
    ("an id of 8 bytes", ANSWER, "new Uint8Array(16)", "new Uint8Array(8)"),
    ("an answer that is not kept", ANSWER, "  store.setItem(`bcdp.report.${plan.id}`, JSON.stringify(report));\n", ""),
    ("an answer that is made again", ANSWER, "  if (known) return known;\n", ""),
    ("a kept answer that is not checked", ANSWER, "    symbolsOf(plan, report);\n", ""),
    ("a broken memory is forgotten", ANSWER, "    // answering anew would be a second answer\n", "    return null;\n"),
    ("a store that is not asked for", ANSWER, "store: got none; accepted", "nothing; accepted"),
    ("what is missing counts as 0", ANSWER, "if (missing && feature.missing === null) {", "if (false) {"),
    ("a text as a number", ANSWER, 'if (!missing && typeof value !== "number") throw', "if (false) throw"),
    ("a number rounded to its nearer level", ANSWER, "word < (place - below) * TOTAL", "place - below > 0.5"),
    ("a number rounded down", ANSWER, "(word < (place - below) * TOTAL ? 1 : 0)", "0"),
    ("the menu one too far", ANSWER, "words[0] >= end", "words[0] > end"),
    ("symbols in another order", ANSWER, "result = result * table.symbols + ", "result = result + table.symbols * "),
    ("a square that is none", ANSWER, "2 * (x * x) - 1", "2 * Math.abs(x) - 1"),
    ("a bound of 2^32 - 1", CHECKS, "export const TOTAL = 2 ** 32;", "export const TOTAL = 2 ** 32 - 1;"),
    ("keys that are not looked at", CHECKS, "if (unknown.length || absent.length)", "if (absent.length)"),
    ("FILL as a text", CHECKS, " || value === UNFILLED", ""),
    ("a logarithm rounded down", EXACT, "kept << shift === bound ? kept : kept + 1n", "kept"),
    (
        "odds rounded down",
        EXACT,
        "return first(near, (n) => logUp(ratioOf(n, 100)) >= level) / 100;",
        "return Math.floor(100 * Math.exp(level)) / 100;",
    ),
    ("a sum rounded to the nearest", LEDGER, "below(exactly(rounded), sum) ? above(rounded) : rounded", "rounded"),
    (
        "an infinite level that is left out",
        LEDGER,
        "if (levels.some((level) => !(level < Infinity))) return Infinity;",
        "levels = levels.filter((level) => level < Infinity);",
    ),
    ("a claim that is not compared", CERTIFICATE, "if (level > claimed) {", "if (false) {"),
    ("a demand that is not compared", CERTIFICATE, "if (claimed > demanded) throw", "if (false) throw"),
    ("a limit that NaN passes", CERTIFICATE, "if (!(claimed <= limit)) throw", "if (claimed > limit) throw"),
    (
        "a limit one step too high",
        CERTIFICATE,
        "if (!(claimed <= limit)) throw",
        "if (!(claimed <= limit * (1 + 1e-12))) throw",
    ),
    (
        "no limit unless one is set",
        CERTIFICATE,
        "export const MAX_EPSILON = 4;",
        "export const MAX_EPSILON = Infinity;",
    ),
    ("another delta than was asked", CERTIFICATE, "if (asked !== delta) throw", "if (false) throw"),
    ("weights that do not sum up", QUESTIONS, "if (weight !== TOTAL) throw", "if (false) throw"),
    ("a feature twice in a menu", QUESTIONS, "if (new Set(names).size !== names.length) throw", "if (false) throw"),
    ("any number of answers", QUESTIONS, "if (answers > MOST_ANSWERS) throw", "if (false) throw"),
    ("any text for a plan", PLAN, "if (written !== text) {", "if (false) {"),
    ("another version", PLAN, "if (document.bcdp !== FORMAT) throw", "if (false) throw"),
    ("an epsilon of 30", PLAN, "const LARGEST_EPSILON = 20;", "const LARGEST_EPSILON = 30;"),
    ("values that are alike", FEATURES, " || !different(word)", ""),
    ("a missing value that is none", FEATURES, "!(values ?? [0, 1, false, true]).includes(missing)", "false"),
    ("letters that hide a word", SURVEY, " || UNSHOWN.test(value)", ""),
    ("a language of any name", SURVEY, "!found.length || !found.every(", "!found.length || !found.some("),
    ("as many words as one likes", SURVEY, "words.length !== size || ", ""),
    ("quotation marks that are left", TELL, "shown.replace(/[“”]/g, '\"')", "shown"),
    (
        "a condition that is not told",
        TELL,
        "condition === null ? words.nothingAssumed : tellCondition(condition, words)",
        "words.nothingAssumed",
    ),
    (
        "a q told too small",
        PROMISE,
        "return hundredths / 100;\n}\n\n/** Odds",
        "return hundredths / 1000;\n}\n\n/** Odds",
    ),
    ("hints that are not rounded outward", TELL, "rounded(most, Math.ceil)", "rounded(most, Math.floor)"),
    ("all levels are likely", EXPLAIN, "highest * (1 - 1e-6)", "0"),
    ("a number spelled otherwise", SPELLING, "power < -4 || power > 15", "power < -7 || power > 20"),
    (
        "0x10 as a number",
        NUMBERS,
        "if (digits === undefined) return [];",
        "if (digits === undefined) return [Number(text)];",
    ),
    ("41.000 in German as 41", NUMBERS, 'de: "."', 'de: ","'),
    (
        "a number that is guessed",
        NUMBERS,
        "return fitting.length ? fitting : different;",
        "return (fitting.length ? fitting : different).slice(0, 1);",
    ),
]
QUICK = (
    "words from Math.random",
    "an id from Math.random",
    "an answer that is made again",
    "a limit that NaN passes",
    "a sum rounded to the nearest",
    "41.000 in German as 41",
)


def mutated(folder: Path, mutant: tuple[str, str, str, str]) -> Path:
    """A copy of the device and its tests with one mistake."""
    _, name, before, after = mutant
    web = folder / "src" / "bcdp" / "web"
    shutil.copytree(ROOT / "src" / "bcdp" / "web", web)
    shutil.copytree(ROOT / "tests" / "js", folder / "tests" / "js")
    (folder / "vectors").symlink_to(ROOT / "vectors")
    text = (web / name).read_text("utf-8")
    assert text.count(before) == 1, f"{mutant[0]}: {text.count(before)} places"
    (web / name).write_text(text.replace(before, after), "utf-8")
    return folder


def is_noticed(folder: Path, node: str, *names: str) -> bool:
    """Whether one of the tests fails."""
    tests = [str(folder / "tests" / "js" / name) for name in names]
    done = subprocess.run([node, "--test", *tests], cwd=folder, capture_output=True, text=True, timeout=300)
    return done.returncode != 0
