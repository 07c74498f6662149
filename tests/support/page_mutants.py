"""Mistakes that one could make in the pages and their worker, one at a time; tests in a browser must notice each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from support.paths import ROOT

TABS, PAGE, WEB = "web/test_web_survey.py", "web/test_web_page.py", "web/test_web.py"
DASHBOARD, EDITOR = "web/test_dashboard.py", "studio/test_studio_editor.py"
RELAY, MESSAGES = "collector/test_relay.py", "web/test_web_messages.py"


@dataclass(frozen=True)
class PageMutant:
    """What is wrong; the file, a text that it has once and what replaces it; the test that notices it."""

    what: str
    file: str
    before: str
    after: str
    test: str  # its file and a part of its name


PAGE_MUTANTS = [
    PageMutant(
        "a policy with mistakes that is taken over from its text",
        "studio/text.js",
        "if (!problems.length) begin",
        "begin",
        f"{EDITOR} text_and_the_fields",
    ),
    PageMutant(
        "a slider that gives less protection to the right",
        "studio/editor.js",
        "100 - placeOf(deltaOf(policy, name), most)",
        "placeOf(deltaOf(policy, name), most)",
        f"{EDITOR} more_protection",
    ),
    PageMutant(
        "a share on a card that is not in percent",
        "dashboard/cards.js",
        "`${measured(100 * value, 100 * (se ?? 0))}%`",
        "measured(value, se ?? 0)",
        f"{DASHBOARD} numbers_have_the_digits",
    ),
    PageMutant(
        "an alarm that looks as if all were well",
        "dashboard.js",
        'checks.alarm ? "bad" : "good"',
        '"good"',
        f"{DASHBOARD} alarm_stands_above",
    ),
    PageMutant(
        "a dashboard that moves although nothing new came",
        "dashboard.js",
        "if (found && JSON.stringify(found) !== rendered)",
        "if (found)",
        f"{DASHBOARD} long_lists_are_folded",
    ),
    PageMutant(
        "a panel that stays when another tab is chosen",
        "dashboard/tabs.js",
        ".hidden = !selected;",
        ".hidden = false;",
        f"{DASHBOARD} tabs_follow",
    ),
    PageMutant(
        "a corrupt ledger read as 0",
        "survey/memory.js",
        "Number.isFinite(epsilon) && epsilon >= 0 ? epsilon : Infinity",
        "Number(epsilon) || 0",
        f"{TABS} ledger_that_cannot_be_read",
    ),
    PageMutant(
        "a ledger that is no JSON read as empty",
        "survey/memory.js",
        'return [{ plan: "unknown", epsilon: Infinity }];',
        "return [];",
        f"{TABS} ledger_that_cannot_be_read",
    ),
    PageMutant(
        "a ledger that ignores which menu was drawn",
        "worker.js",
        "bcdp.releaseOf(plan, report.menu ?? 0)",
        "bcdp.releaseOf(plan)",
        f"{PAGE} release_of_the_menu",
    ),
    PageMutant(
        "a limit that another tab has spent",
        "survey.js",
        "if (!obeyed()) return; // another tab",
        "// another tab",
        f"{TABS} limit_that_another_tab_has_spent",
    ),
    PageMutant(
        "a report that was sent is drawn again",
        "survey/memory.js",
        "exists: () => kept() !== null || wasSent()",
        "exists: () => kept() !== null",
        f"{TABS} second_tab_releases",
    ),
    PageMutant(
        "a report is drawn beside that of another tab, without locks",
        "survey.js",
        "if (answer.exists()) return open(); // where",
        "// where",
        f"{TABS} while_a_report_is_drawn",
    ),
    PageMutant(
        "tabs that do not take turns",
        "survey/device.js",
        'navigator.locks ? navigator.locks.request("bcdp", action) : action()',
        "action()",
        f"{PAGE} two_tabs_do_not_race",
    ),
    PageMutant(
        "a report that was replaced is sent",
        "survey/sending.js",
        "if (answer.kept() !== kept) return reopen();",
        "",
        f"{TABS} person_before",
    ),
    PageMutant(
        "a report that is not counted",
        "survey/memory.js",
        "        ledger.add(release);\n",
        "",
        f"{TABS} second_tab_releases",
    ),
    PageMutant(
        "a report that is kept although it cannot be counted",
        "survey/memory.js",
        "        memory.remove(`report.${id}`);\n        throw failure;",
        "        throw failure;",
        f"{TABS} cannot_be_counted",
    ),
    PageMutant(
        "room that is not tried",
        "survey.js",
        "  if (!state.drafts.size) memory.probe(state.sheet);\n",
        "",
        f"{TABS} takes_nothing",
    ),
    PageMutant(
        "labels inserted as HTML",
        "page.js",
        "  node.append(...children);",
        '  for (const one of children) one.nodeType ? node.append(one) : node.insertAdjacentHTML("beforeend", one);',
        f"{TABS} becomes_part_of_the_page",
    ),
    PageMutant(
        "a token left in the address",
        "dashboard.js",
        '  history.replaceState(null, "", location.pathname);\n',
        "",
        f"{WEB} token_in_the_address",
    ),
    PageMutant(
        "any answer is a receipt",
        "survey/transport.js",
        "return readReceipt(text).duplicate > 0;",
        "return false;",
        f"{TABS} no_receipt",
    ),
    PageMutant(
        "sealing that is loaded when a report is sent",
        "survey/transport.js",
        'const { sendSealed } = await within(PLAN_SECONDS, () => import("../sealing.js"));\n'
        "  return (message, signal) =>\n    sendSealed(",
        'const sendSealed = async (...given) => (await import("../sealing.js")).sendSealed(...given);\n'
        "  return (message, signal) =>\n    sendSealed(",
        f"{RELAY} hears_nothing",
    ),
    PageMutant(
        "languages that are loaded when they are chosen",
        "survey.js",
        "if (checked.relay !== null) await loadLanguages();",
        "",
        f"{RELAY} hears_nothing",
    ),
    PageMutant(
        "any plan for an invitation",
        "survey.js",
        "  refuse(state.words.otherPlan);\n  return false;",
        "  return true;",
        f"{TABS} invitation_names_the_plan",
    ),
    PageMutant(
        "an answer that is preselected",
        "survey/fields.js",
        "input.checked = input.value === draft;",
        'input.checked = input.value === (draft ?? "-1");',
        f"{TABS} nothing_is_chosen",
    ),
    PageMutant(
        "another language that empties the form",
        "survey/form.js",
        "words, drafts.get(name));",
        "words);",
        f"{TABS} another_language",
    ),
    PageMutant(
        "answers that are lost without a word",
        "survey/state.js",
        "window.onbeforeunload = entered ? ",
        "window.onbeforeunload = false ? ",
        f"{TABS} before_answers_are_lost",
    ),
    PageMutant(
        "what was entered kept unasked",
        "survey/walk.js",
        '  if (!$("keep").checked) return;\n',
        "",
        f"{TABS} before_answers_are_lost",
    ),
    PageMutant(
        "what was entered kept after the answer",
        "survey/walk.js",
        "  withoutFail(() => draftOf(state.sheet).forget());\n",
        "",
        f"{TABS} wants_kept",
    ),
    PageMutant(
        "what was entered left in the page",
        "survey/state.js",
        '  if (part !== "review") $("entered").replaceChildren();\n',
        "",
        f"{TABS} way_back",
    ),
    PageMutant(
        "a question that the way back skips",
        "survey/walk.js",
        'history.pushState({ place }, "");',
        'history.replaceState({ place }, "");',
        f"{TABS} way_back",
    ),
    PageMutant(
        "a form that begins beyond the limits",
        "survey/walk.js",
        "obeyed() && goTo",
        "goTo",
        f"{WEB} own_limit",
    ),
    PageMutant(
        "the answer to another question of the page",
        "survey/device.js",
        "    settle(number, ({ resolve, reject })",
        "    settle(asked, ({ resolve, reject })",
        f"{TABS} asked_two_things",
    ),
    PageMutant(
        "a worker that believes a plan's claims",
        "worker.js",
        "    bcdp.verifyPlan(plan, { maxEpsilon: Infinity });\n",
        "",
        f"{WEB} promises_too_much",
    ),
    PageMutant(
        "one id for all messages of a person",
        "survey/sending.js",
        "id: ticket ?? each.id",
        "id: ticket ?? [report].flat()[0].id",
        f"{MESSAGES} sealed_and_sent_by_itself",
    ),
]
QUICK_PAGE = ("a report that was sent is drawn again", "labels inserted as HTML")


def is_noticed_in_a_browser(folder: Path, mutant: PageMutant) -> bool:
    """Whether the test fails on a copy of the package with the mistake."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "src" / "bcdp" / "web" / mutant.file
    text = file.read_text("utf-8")
    assert text.count(mutant.before) == 1, f"{mutant.what}: {text.count(mutant.before)} places"
    file.write_text(text.replace(mutant.before, mutant.after), "utf-8")
    name, part = mutant.test.split()
    options = ["-q", "-x", "-p", "no:cacheprovider", "-k", part]
    command = [sys.executable, "-m", "pytest", str(ROOT / "tests" / name), *options]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 5: no such test
    return done.returncode == 1
