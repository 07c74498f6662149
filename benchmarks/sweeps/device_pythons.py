"""The standalone device under other Pythons: every vector in CPython 3.10 to 3.14, as Node runs it (Pyodide).

Each version comes from the npm registry into a temporary folder. Python 3.9 is not to be had there: that the package
needs no later one is checked by its syntax in the tests. Usage: python benchmarks/sweeps/device_pythons.py
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERSIONS = {"3.10": "0.22.1", "3.11": "0.25.1", "3.12": "0.27.8", "3.13": "0.29.5", "3.14": "314.0.7"}

IN_PYTHON = """
import glob, json, sys
sys.path.insert(0, "/src")
from bcdp_device import Device, InputError, read_plan
from bcdp_device.answering import answers

cases = 0
for path in sorted(glob.glob("/vectors/*.json")):
    with open(path, encoding="utf-8") as file:
        vector = json.load(file)
    if isinstance(vector, list):
        for case in vector:
            try:
                read_plan(case["plan"])
            except InputError:
                cases += 1
            else:
                raise AssertionError(case["why"])
    elif "plan" in vector:
        plan = read_plan(vector["plan"])
        levels = {"epsilon": plan.levels.epsilon, "c": dict(plan.levels.c), "delta": dict(plan.levels.delta)}
        assert (plan.id, levels) == (vector["id"], vector["levels"]), path
        for example in vector["examples"]:
            given = [report["answer"] for report in answers(plan, example["record"], example["words"])]
            assert given == example.get("answers", [example.get("answer")]), path
            cases += 1
        ticket = "a ticket" if plan.by_ticket else None
        device = Device({}, max_epsilon=20)
        record = vector["examples"][0]["record"]
        assert device.messages(plan, record, ticket) == device.messages(plan, record, ticket)
f"Python {sys.version.split()[0]}: {cases} cases"
"""
IN_NODE = """
import { loadPyodide } from "pyodide";
const [source, vectors, script] = process.argv.slice(-3);
const python = await loadPyodide({ indexURL: `${import.meta.dirname}/node_modules/pyodide/` });
for (const [folder, root] of [["/src", source], ["/vectors", vectors]]) {
  python.FS.mkdir(folder);
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, folder);
}
console.log(python.runPython(script));
"""


def main() -> None:
    for name, version in VERSIONS.items():
        with tempfile.TemporaryDirectory() as folder:
            run(["npm", "install", "--silent", "--no-audit", "--no-fund", f"pyodide@{version}"], folder)
            script = Path(folder, "run.mjs")
            script.write_text(IN_NODE, encoding="utf-8")
            line = run(["node", str(script), str(ROOT / "src"), str(ROOT / "vectors"), IN_PYTHON], folder)
            assert f"Python {name}." in line, line
            print(line.strip(), flush=True)


def run(command: list[str], folder: str) -> str:
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    main()
