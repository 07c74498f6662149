"""What is shipped: the notebook runs, and the wheel and sdist install into an empty environment."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
import zipfile
from pathlib import Path

import httpx
import nbformat
import pytest
import yaml

import bcdp
from support.documents import blocks
from support.paths import ROOT
from support.system import require

pytestmark = pytest.mark.slow


def shapes(notebook):
    """What each cell puts out, apart from numbers, which chance changes: kinds, lines and words."""
    return [
        (
            output.output_type,
            sorted(output.get("data", {})),
            re.sub(r"[-+\d.,e]+", "0", "".join(output.get("text", ""))),
        )
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    ]


def test_the_notebook_runs_and_shows_what_came_out(tmp_path):
    """Its outputs are kept in the file, so that it can be read without being run; `make notebook` writes them again."""
    path, again = ROOT / "notebooks" / "tour.ipynb", tmp_path / "tour.ipynb"
    kept = nbformat.read(path, as_version=4)
    assert all(cell.outputs for cell in kept.cells if cell.cell_type == "code" and cell.source)
    shutil.copy(path, again)
    run(sys.executable, ROOT / "tools" / "run_notebook.py", again)
    assert shapes(kept) == shapes(nbformat.read(again, as_version=4))
    shown = [kind for _, kinds, _ in shapes(kept) for kind in kinds]
    assert (shown.count("image/png"), shown.count("text/html")) == (2, 4)
    assert path.stat().st_size < 400_000


def test_the_extras_bring_what_the_program_runs_on():
    """The pinned set is exactly what the package asks for with its extras plot, serve and demo."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["plot"], *extras["serve"], *extras["demo"]]
    lines = (ROOT / "requirements" / "runtime.in").read_text().splitlines()
    assert {re.split("[<>=;]", one)[0] for one in asked} == {line for line in lines if line[:1] not in ("", "#")}


def test_the_version_stands_once():
    """CITATION.cff, which cannot read it, repeats it."""
    assert f"\nversion: {bcdp.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"]


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def container(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The container's steps one by one, in a folder and an empty environment in the place of its root and its Python.

    No image can be fetched where the tests run, and a new user would change the machine: these two steps are left out.
    """
    root = tmp_path_factory.mktemp("container")
    place = root / "srv"
    place.mkdir()
    venv.create(root / "python", with_pip=True)
    path = {**os.environ, "PATH": f"{root / 'python' / 'bin'}:{os.environ['PATH']}"}
    for word, rest in STEPS:
        if word == "COPY":
            *sources, _ = rest.split()
            for source in sources:
                base = built if source.startswith("dist/") else ROOT
                (found,) = base.glob(source.removeprefix("dist/"))
                shutil.copy(found, place)
        elif word == "RUN" and rest.startswith("pip "):
            run("sh", "-c", f"{rest} {' '.join(QUIET)}", cwd=place, env=path)
    return root


QUIET = ["--quiet", "--disable-pip-version-check", "--no-compile"]  # most modules are never imported here
STEPS = [
    (word, rest)
    for line in (ROOT / "Containerfile").read_text().splitlines()
    if line and not line.startswith("#")
    for word, rest in [line.split(maxsplit=1)]
]


def test_wheel_and_sdist_install_into_an_empty_environment(built, container, tmp_path):
    (wheel,), (sdist,) = built.glob("bcdp_privacy-*.whl"), built.glob("bcdp_privacy-*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    assert "bcdp/py.typed" in names
    assert not [name for name in names if name.startswith("tests/")]
    python = container / "python" / "bin" / "python"
    quiet = ["-m", "pip", "install", *QUIET]
    run(python, *quiet, "--require-hashes", "-r", ROOT / "requirements" / "build.txt")
    (tmp_path / "policy.yaml").write_text("epsilon: 1\nfeatures: {a: {type: binary}}\n")
    for package in (wheel, sdist):
        run(python, *quiet, "--no-deps", "--no-build-isolation", "--force-reinstall", package)
        program = container / "python" / "bin" / "bcdp"
        assert f"bcdp {bcdp.__version__}" in run(program, "--version", cwd=tmp_path)
        assert '"epsilon"' in run(program, "plan", "policy.yaml", "-o", "plan.json", "--json", cwd=tmp_path)


def test_builds_are_reproducible(built: Path, tmp_path: Path) -> None:
    """The same files give the same wheel, bit for bit."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=ROOT)
    (wheel,), (again,) = built.glob("*.whl"), tmp_path.glob("*.whl")
    assert wheel.read_bytes() == again.read_bytes()


def test_the_wheel_states_what_it_vendors(built: Path) -> None:
    """Its software bill of materials (PEP 770) has the packages that the vendored script names, and no others."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        (name,) = [name for name in files.namelist() if ".dist-info/sboms/" in name]
        components = json.loads(files.read(name))["components"]
        script = files.read("bcdp/web/vendor/hpke.js").decode("utf-8").splitlines()[1]
    stated = {f"{part['group']}/{part['name']} {part['version']}" for part in components}
    assert stated == set(re.findall(r"@hpke/[a-z]+ [0-9.]*[0-9]", script))
    assert len(stated) == 2


def test_the_readme_runs_with_the_wheel_alone(container, tmp_path):
    """As printed, in an empty folder, by the environment that holds what the README says to install."""
    path = {**os.environ, "PATH": f"{container / 'python' / 'bin'}:{os.environ['PATH']}"}
    ran = []
    for block in blocks((ROOT / "README.md").read_text("utf-8")):
        name = re.match(r"# (\w+\.yaml)\n", block.text)
        if block.language == "yaml" and name:
            (tmp_path / name[1]).write_text(block.text)
        elif block.language == "python":
            ran.append(block.text)
            run(container / "python" / "bin" / "python", "-c", "\n".join(ran), cwd=tmp_path)
        elif block.language == "sh":
            for line in block.text.splitlines():
                if line.startswith("bcdp "):
                    run("sh", "-c", line, cwd=tmp_path, env=path)
    assert (tmp_path / "report.html").exists()


READ_ONLY = """
set -e
root=$1 data=$2; shift 2
mount --rbind / "$root"
mount -o remount,bind,ro "$root"
mount --bind "$data" "$root$data"
if touch "$root$data/../written" 2> /dev/null; then exit 9; fi  # not even by root
exec chroot "$root" "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="another user can be taken by root only")
def test_the_container_serves_without_root_and_can_write_its_data_only(container, tmp_path):
    """As a user without rights, on a root that is mounted read-only but for the data; the health check is the image's.

    So `--read-only` is what it is run with, without any container: the same mounts, made by hand.
    """
    require(subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0, "util-linux, and its rights")
    stated = dict(STEPS)
    assert stated["USER"] == "bcdp"
    assert "--uid 10001" in next(rest for word, rest in STEPS if word == "RUN" and "useradd" in rest)
    plan = bcdp.make_plan(bcdp.Policy(epsilon=1, features={"a": {"type": "binary"}}))
    etc, data, root = tmp_path / "etc", tmp_path / "data", tmp_path / "root"
    etc.mkdir()
    root.mkdir()
    data.mkdir(mode=0o700)
    os.chown(data, 10001, 10001)
    plan.save(etc / "plan.json")
    (etc / "token").write_text("a-token-long-enough-for-the-operator\n")
    for folder in (container, *container.parents, tmp_path, *tmp_path.parents):
        if str(folder).startswith(tempfile.gettempdir()) and folder != Path(tempfile.gettempdir()):
            folder.chmod(folder.stat().st_mode | 0o711)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [*json.loads(stated["ENTRYPOINT"]), *json.loads(stated["CMD"])]
    words = [word.replace("/etc/bcdp", str(etc)).replace("/data", str(data)) for word in words]
    words[words.index("0.0.0.0")] = "127.0.0.1"  # on loopback only
    program = str(container / "python" / "bin" / words[0])
    user = ["setpriv", "--reuid=10001", "--regid=10001", "--clear-groups"]
    started = subprocess.Popen(
        [
            "unshare",
            "--mount",
            "sh",
            "-c",
            READ_ONLY,
            "sh",
            root,
            data,
            *user,
            program,
            *words[1:],
            "--port",
            str(port),
        ],
        cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": str(data)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        check = json.loads(stated["HEALTHCHECK"].removeprefix("CMD "))
        command = [sys.executable, *(word.replace("8000", str(port)) for word in check[1:])]
        for _ in range(300):
            healthy = subprocess.run(command, capture_output=True, check=False).returncode == 0
            if healthy or started.poll() is not None:
                break
            time.sleep(0.1)
        assert healthy, started.communicate(timeout=5)[1] if started.poll() is not None else "it does not answer"
        assert (data / "reports.db").stat().st_uid == 10001
        sent = {"plan": plan.id, "reports": [{"id": "a", "menu": 0, "answer": 0}]}
        assert httpx.post(f"http://127.0.0.1:{port}/v1/reports", json=sent).json()["accepted"] == 1
    finally:
        started.terminate()
        started.communicate(timeout=20)
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0  # the check can fail


def test_the_newest_server_that_is_accepted_is_the_one_that_is_tested():
    """Its protocol class is extended, so that a version that no test has seen could lift a limit without a word."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]["serve"]
    (accepted,) = [line for line in stated if line.startswith("uvicorn")]
    most = re.fullmatch(r"uvicorn>=\d+\.\d+,<0\.(\d+)", accepted)
    pinned = re.search(r"^uvicorn==0\.(\d+)\.", (ROOT / "requirements" / "dev.txt").read_text("utf-8"), re.MULTILINE)
    assert int(most[1]) == int(pinned[1]) + 1


def test_the_conda_recipe_is_that_of_the_wheel():
    """Name, version, command, least Python and dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = yaml.safe_load((ROOT / "packages" / "conda" / "recipe.yaml").read_text("utf-8"))
    assert recipe["package"]["name"] == project["name"]
    assert recipe["context"]["version"] == bcdp.__version__
    assert recipe["build"]["python"]["entry_points"] == [f"bcdp = {project['scripts']['bcdp']}"]
    needed = [f"python{project['requires-python']}", *project["dependencies"]]
    assert [line.replace(" ", "") for line in recipe["requirements"]["run"]] == needed


def test_actions_are_pinned_by_commit():
    """A tag can be moved to other code; a commit cannot."""
    used = re.findall(r"uses: (\S+)(.*)", (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    assert len(used) > 5
    assert [name for name, _ in used if not re.search(r"@[0-9a-f]{40}$", name)] == []
    assert all(re.search(r"# v\d", version) for _, version in used), "the version is written next to it"
