"""Mistakes that one could make in the browser's device, one at a time; the tests in tests/js must notice each."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from support.paths import ROOT

ANSWER, CHECKS, FEATURES, PLAN = (
    "device/answer.js",
    "device/checks.js",
    "device/reading/features.js",
    "device/reading/plan.js",
)
EXACT, CERTIFICATE, QUESTIONS, TABLES = (
    "device/exact.js",
    "device/certificate.js",
    "device/reading/questions.js",
    "device/reading/randomizers.js",
)
LEDGER, PROMISE, SURVEY, TELL = (
    "device/ledger.js",
    "device/wording/promise.js",
    "device/reading/survey.js",
    "device/wording/tell.js",
)
LISTED, RELAY, VERIFY = "device/reading/listed.js", "device/reading/relay.js", "device/verify.js"
WAVES = "device/reading/waves.js"
EXPLAIN, NUMBERS, SPELLING = "device/wording/explain.js", "survey/numbers.js", "device/reading/spelling.js"
RECEIPT, CHANCES = "device/receipt.js", "survey/chances.js"
COUNTS, MESSAGES, TRANSPORT = "device/counts.js", "device/message_counts.js", "survey/transport.js"

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
    ("an answer that is not kept", ANSWER, "  await store.setItem(`bcdp.report.${plan.id}`, ", "  void (``, "),
    ("an answer that is made again", ANSWER, "(await keptReport(plan, store)) ?? keepReport", "keepReport"),
    ("a kept answer that is not checked", ANSWER, "  symbolsOf(plan, report);\n", ""),
    ("a broken memory is forgotten", ANSWER, "    // answering anew would be a second answer\n", "    return null;\n"),
    ("a store that is not asked for", ANSWER, "store: got none; accepted", "nothing; accepted"),
    ("what is missing counts as 0", ANSWER, "if (missing && feature.missing === null) {", "if (false) {"),
    ("a text as a number", ANSWER, 'if (!missing && typeof value !== "number") throw', "if (false) throw"),
    ("a number rounded to its nearer level", ANSWER, "word < (place - below) * TOTAL", "place - below > 0.5"),
    ("a number rounded down", ANSWER, "(word < (place - below) * TOTAL ? 1 : 0)", "0"),
    ("the menu one too far", ANSWER, "word >= end; end += menus[menu]", "word > end; end += menus[menu]"),
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
    (
        "the smallest of several plans",
        LEDGER,
        "certified.length ? Math.max(...certified)",
        "certified.length ? Math.min(...certified)",
    ),
    (
        "deltas that are added",
        LEDGER,
        "...others.map(({ epsilon }) => epsilon)]);\n}",
        "...others.map((row) => of(row.delta, name) ?? row.epsilon)]);\n}",
    ),
    ("open values of others that do not matter", LEDGER, "others.every(({ open }) => open?.length === 0)", "true"),
    (
        "an open feature that counts as protected",
        LEDGER,
        "if (rows.some(({ open }) => open?.includes(name))) return Infinity;",
        "",
    ),
    (
        "an old row that concerns no feature",
        LEDGER,
        "c === undefined || Object.hasOwn(c, name)",
        "c !== undefined && Object.hasOwn(c, name)",
    ),
    ("an old row without budgets", LEDGER, "row.c === undefined ? row.epsilon : ", ""),
    ("the smallest history", LEDGER, "return Math.max(...histories.map(", "return Math.min(...histories.map("),
    ("a formula that is not rounded up", LEDGER, "return above(level * (1 + 1e-12));", "return level;"),
    ("neighbours rounded down", LEDGER, "(kept[at + 1] ?? kept[at])[0], e]", "kept[at][0], e]"),
    ("a claim that is not compared", VERIFY, "if (level > claimed) {", "if (false) {"),
    ("a demand that is not compared", VERIFY, "if (claimed > demanded) throw", "if (false) throw"),
    ("a limit that NaN passes", VERIFY, "if (!(claimed <= limit)) throw", "if (claimed > limit) throw"),
    (
        "a limit one step too high",
        VERIFY,
        "if (!(claimed <= limit)) throw",
        "if (!(claimed <= limit * (1 + 1e-12))) throw",
    ),
    (
        "no limit unless one is set",
        VERIFY,
        "export const MAX_EPSILON = 4;",
        "export const MAX_EPSILON = Infinity;",
    ),
    ("another delta than was asked", VERIFY, "if (asked !== delta) throw", "if (false) throw"),
    ("weights that do not sum up", QUESTIONS, ": weight !== TOTAL) {", ": false) {"),
    ("a feature twice in a menu", QUESTIONS, "if (new Set(names).size !== names.length) throw", "if (false) throw"),
    ("any number of answers", QUESTIONS, "if (answers > MOST_ANSWERS) throw", "if (false) throw"),
    ("any text for a plan", PLAN, "if (written !== text) {", "if (false) {"),
    ("another version", PLAN, "if (document.bcdp !== FORMAT) throw", "if (false) throw"),
    ("an epsilon of 30", PLAN, "const LARGEST_EPSILON = 20;", "const LARGEST_EPSILON = 30;"),
    ("values that are alike", FEATURES, " || !different(word)", ""),
    ("a missing value that is none", FEATURES, "(values ?? [0, 1, false, true]).includes(missing)", "true"),
    ("letters that hide a word", SPELLING, "if (HIDDEN.test(value))", "if (/\\p{Cs}/u.test(value))"),
    ("joiners anywhere", SPELLING, "|[\\u200c\\u200d](?!", "|[\\u200c\\u200d](?=!)(?!"),
    (
        "a report that was sent is drawn again",
        ANSWER,
        "if (await store.getItem(`bcdp.sent.${plan.id}`)) {",
        "if (false) {",
    ),
    (
        "a store that forgets",
        ANSWER,
        "(await keptReport(plan, store)) ?? noStore()",
        "(await keptReport(plan, store)) ?? draw()",
    ),
    ("tabs that do not take turns", ANSWER, 'navigator.locks.request("bcdp", action)', "action()"),
    ("any answer is a receipt", RECEIPT, "!counted || accepted + duplicate !== reports", "false"),
    ("a receipt for nothing", RECEIPT, " || accepted + duplicate !== reports", ""),
    ("text that turns a sentence round", TELL, "RIGHT_TO_LEFT.test(text) ? ", "false ? "),
    ("a language of any name", CHECKS, "!found.length || !found.every(", "!found.length || !found.some("),
    ("as many words as one likes", CHECKS, "words.length !== size || ", ""),
    ("quotation marks that are left", TELL, "shown.replace(/[“”]/g, '\"')", "shown"),
    (
        "a condition that is not told",
        TELL,
        "condition === null ? words.nothingAssumed : tellCondition(condition, words, open)",
        "words.nothingAssumed",
    ),
    (
        "a q told too small",
        PROMISE,
        "return hundredths / 100;\n}\n\n/**\n * Odds",
        "return hundredths / 1000;\n}\n\n/**\n * Odds",
    ),
    ("hints that are not rounded outward", TELL, "rounded(most, Math.ceil)", "rounded(most, Math.floor)"),
    ("all levels are likely", EXPLAIN, "highest * (1 - 1e-6)", "0"),
    (
        "a number spelled otherwise",
        SPELLING,
        "Number(power) < -4 || Number(power) > 15",
        "Number(power) < -7 || Number(power) > 20",
    ),
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
    ("any number or more as that number", NUMBERS, ".filter(isBeyond)", ""),
    ("chances rounded down", CHANCES, "Math.ceil(becomes)", "Math.floor(becomes)"),
    ("what is left without the condition untold", CHANCES, "condition === null ? held :", "true ? held :"),
    ("the weakest promise for the strictest", CHANCES, "a.becomes - b.becomes", "b.becomes - a.becomes"),
    ("answers that do not wait for each other", ANSWER, "const done = last.then(action);", "const done = action();"),
    ("a group that is not told", ANSWER, "open.size ? { group: ", "false ? { group: "),
    ("a kept group that is not checked", ANSWER, 'if (plan.open.size) whole("group"', 'if (false) whole("group"'),
    (
        "a step that begins after its cut",
        FEATURES,
        "numberCode(feature, cut) <= code",
        "numberCode(feature, cut) < code",
    ),
    ("a menu that does not ask tells nothing", CERTIFICATE, "outside(plan, menus, name, unasked)]", "ONE]"),
    ("one such menu stands for all", CERTIFICATE, "if (plan.correlation.alike) break;", "break;"),
    ("a joint table as two", CERTIFICATE, 'features.length > 1 && question.kind !== "product"', "features.length > 9"),
    ("a joint table alone in its menu", CERTIFICATE, "within.q > 0 ? rest : ONE", "ONE"),
    ("numbers rounded to any levels", CERTIFICATE, "16 % (levels - 1 - declared.get(name).extras) === 0", "true"),
    ("steps at any cuts", CERTIFICATE, "told.every((cut) => known.get(name)?.includes(cut))", "true"),
    ("odds about steps", CERTIFICATE, "apart(others) ? odds(name, others) : Infinity", "odds(name, others)"),
    ("a product in any menu", CERTIFICATE, "questions.length === 1 && fits(questions[0])", "fits(questions[0])"),
    (
        "two values that are coded alike",
        CERTIFICATE,
        "filter(([a, b]) => alike || a !== b)",
        "filter(([a, b]) => a !== b)",
    ),
    ("odds without their q", CERTIFICATE, "return common > 0n ? ", "return false ? "),
    ("q without its odds", CERTIFICATE, "  if (odds === Infinity) return", "  return"),
    ("only the worst by doubles", CERTIFICATE, "const NEARLY = 1 - 1e-6;", "const NEARLY = 1 + 1e-6;"),
    ("laws that are ignored", CERTIFICATE, "smaller(gain, knownRatio(plan, name, menu.questions[0]))", "gain"),
    ("ranges that are single values", CERTIFICATE, 'plan.correlation.ranges.has(name) ? "range" : "value"', '"value"'),
    ("a wave that is too wide", WAVES, "% answers < width ? high : low", "% answers <= width ? high : low"),
    ("a wave that runs backwards", WAVES, "place - step * input", "place + step * input"),
    ("silence that begins late", WAVES, "if (word >= words) return answered;", "if (word > words) return answered;"),
    ("a flip one word late", TABLES, "word % cell >= keep", "word % cell > keep"),
    (
        "a value that stands for itself",
        TABLES,
        "index < input ? index : index + 1",
        "index <= input ? index : index + 1",
    ),
    (
        "a symbol one too far",
        TABLES,
        "word >= end; end += weights[input][symbol]",
        "word > end; end += weights[input][symbol]",
    ),
    ("rows that do not sum up", TABLES, "if (sum !== TOTAL) throw", "if (false) throw"),
    ("odds below 1", CHECKS, "Number.isFinite(odds) && odds >= 1", "Number.isFinite(odds) && odds >= 0"),
    (
        "odds of a set that lacks one",
        LISTED,
        "others.every((other) => set.has(other))",
        "others.some((other) => set.has(other))",
    ),
    ("a bound that is stated twice", LISTED, "if (statements.has(place)) throw", "if (false) throw"),
    ("a law that does not sum up", LISTED, "* FARTHEST_FROM_1 > unit", "* 4n > unit"),
    ("some numbers rounded", LISTED, "numbers).length < numbers.length", "numbers).length < 0"),
    ("ranges that no feature has", LISTED, "!cuts.every((cut, place) => cut === own[place])", "false"),
    ("an address without TLS", RELAY, " || !URL.test(url)", ""),
    ("a key of any form", RELAY, "if (!KEY.test(text(", "if (!/^/.test(text("),
    ("claims that are no levels", PLAN, "for (const key of claims) level(", "for (const key of []) level("),
    ("messages of which only the first counts", MESSAGES, ".reduce(convolved)", "[0]"),
    ("chances that overwrite each other", MESSAGES, "total[a + b] += one[a] * other[b]", "total[a + b] = one[a]"),
    ("other messages that reveal nothing", MESSAGES, "Math.max(record(whole), own ===", "Math.max(0, own ==="),
    ("an own message that reveals nothing", MESSAGES, "own === null ? 0 : own(left)", "0"),
    ("a feature that goes with nothing", MESSAGES, "if (larger === 0) return factor;", "return factor;"),
    ("a grid that is too coarse for its factor", MESSAGES, "const FINENESS = 64;", "const FINENESS = 4;"),
    ("messages of twice the people", COUNTS, "menus: [menu] }, people)", "menus: [menu] }, 2 * people)"),
    ("a record's claim about messages", COUNTS, "throw untrue(form, claims[form]);", "void form;"),
    ("messages without a relay that mixes", QUESTIONS, 'trust !== "relay" || ', ""),
    ("one id for all messages of a person", ANSWER, "id: ids[place], ...each", "id: ids[0], ...each"),
    ("messages that are lost from a store", ANSWER, " || reports.length !== plan.menus.length", ""),
    ("messages in any order in a store", ANSWER, "some(({ menu }, place) => menu !== place)", "some(() => false)"),
    ("messages in the order of their questions", TRANSPORT, "of shuffled(messages)", "of messages"),
    ("messages that are sent again", TRANSPORT, "if (taken.has(message)) continue;", ""),
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
