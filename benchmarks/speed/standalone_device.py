"""The standalone device next to `bcdp` and to the browser's device: import time, memory, and answers a second.

Ratios of one run, the median of several processes each. Usage: python benchmarks/speed/standalone_device.py
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
VECTORS = ("binary", "joint", "menus", "waves", "ticks")
PROCESSES = 7
ANSWERS = 2_000

IMPORTED = """
import resource, sys, time
sys.path.insert(0, sys.argv[1])
start = time.perf_counter()
{statement}
spent = time.perf_counter() - start
print(spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
IN_NODE = """
import {{ readFileSync }} from "node:fs";
import {{ answer, randomWords }} from "{device}/answer.js";
import {{ parsePlan }} from "{device}/reading/plan.js";
const {{ plan: text, examples }} = JSON.parse(readFileSync(process.argv.at(-1), "utf-8"));
const plan = await parsePlan(text);
const start = performance.now();
for (let k = 0; k < {answers}; k += 1) answer(plan, examples[k % examples.length].record, randomWords(plan));
console.log({answers} / (performance.now() - start) * 1000);
"""


def main() -> None:
    device, package = (
        imported("from bcdp_device import Device, read_plan, send"),
        imported("from bcdp import Device, Plan"),
    )
    print(
        f"import: {package[0] / device[0]:.0f} times faster than bcdp, {package[1] / device[1]:.1f} times less memory"
    )
    print("answers a second relative to the browser's device in Node")
    for name in VECTORS:
        print(f"  {name:8} {in_python(name) / in_node(name):.3f}")


def imported(statement: str) -> tuple[float, float]:
    """Seconds of the import, and the peak of the process's memory in kB."""
    script = IMPORTED.format(statement=statement)
    runs = [output(sys.executable, "-c", script, ROOT / "src").split() for _ in range(PROCESSES)]
    seconds, memory = zip(*((float(spent), float(peak)) for spent, peak in runs), strict=True)
    return statistics.median(seconds), statistics.median(memory)


def in_python(name: str) -> float:
    sys.path.insert(0, str(ROOT / "src"))
    from bcdp_device import read_plan
    from bcdp_device.answering import answers, random_words

    vector = json.loads(path_of(name).read_text("utf-8"))
    plan, records = read_plan(vector["plan"]), [example["record"] for example in vector["examples"]]
    start = time.perf_counter()
    for number in range(ANSWERS):
        answers(plan, records[number % len(records)], random_words(plan))
    return ANSWERS / (time.perf_counter() - start)


def in_node(name: str) -> float:
    script = IN_NODE.format(device=(ROOT / "src/bcdp/web/device").as_uri(), answers=ANSWERS)
    return float(output("node", "--input-type=module", "-e", script, "-", path_of(name)))


def path_of(name: str) -> Path:
    return ROOT / "vectors" / f"{name}.json"


def output(*command: object) -> str:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
