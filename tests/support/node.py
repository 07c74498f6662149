"""Programs of Node, run from the project's folder."""

import shutil
import subprocess

from support.paths import ROOT
from support.system import require

NODE = shutil.which("node")


def node(*arguments: str, given: str = "") -> str:
    """What a program of Node prints; it must end well."""
    require(NODE, "nodejs")
    done = subprocess.run([str(NODE), *arguments], input=given, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
