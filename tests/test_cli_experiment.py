"""The command line's frame, seen through `bcdp experiment`: what is printed where, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from bcdp.cli import experiment as command
from bcdp.cli import main
from bcdp.experiments import means


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
        (["experiment", "mean", "-o", "{}", "--trials", "many"], "'--trials': Input should be a valid integer"),
        (["experiment", "mean", "-o", "{}", "--trials", "many"], "; got 'many'"),
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


def test_without_matplotlib_the_remedy_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["experiment", "mean", "-o", str(tmp_path), "--trials=1", "--n=10"]) == 2
    assert "pip install 'bcdp[plot]'" in one_line(capsys)


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


def test_help_has_an_example(capsys):
    assert main(["experiment", "--help"]) == 0
    assert "bcdp experiment mean -o" in capsys.readouterr().out


def test_version(capsys):
    from importlib.metadata import version

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"bcdp {version('bcdp')}\n"


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
    """The interrupt goes to the whole group of processes, as from a terminal, while they would work for hours."""
    running = subprocess.Popen(
        [*PROGRAM, "experiment", "mean", "-o", str(tmp_path / "new"), "--trials", "1000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while not (tmp_path / "new").exists() and running.poll() is None:
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"")
