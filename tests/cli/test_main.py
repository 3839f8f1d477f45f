"""One message and one status for every way a command can end."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from types import ModuleType

import pytest

import hmeta
import hmeta.cli as cli
from hmeta.cli._progress import showing_progress
from hmeta.core.errors import DataError
from hmeta.infer.options import Progress


def run(monkeypatch: pytest.MonkeyPatch, ends, *words: str) -> int:
    """Run a command ``probe`` that ends in a given way; return the exit status."""

    def command() -> None:
        """End as asked."""
        return ends()

    module = ModuleType("hmeta.cli.probe")
    module.run = command  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hmeta.cli.probe", module)
    monkeypatch.setattr(cli, "command_names", lambda: {"probe": "hmeta.cli.probe", "other": "hmeta.cli.probe"})
    with pytest.raises(SystemExit) as ended:
        cli.main(["probe", *words])
    return int(ended.value.code or 0)


def fail(error: BaseException):
    def ends():
        raise error

    return ends


def test_a_refusal_is_its_message_and_status_2(monkeypatch, capsys):
    refusal = DataError("negative counts", where="x.nc, count", received="-3", mend="count again")
    assert run(monkeypatch, fail(refusal)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "hmeta: x.nc, count: negative counts",
        "  received: -3",
        "  mend:     count again",
    ]


def test_an_interruption_says_so_and_exits_with_130(monkeypatch, capsys):
    assert run(monkeypatch, fail(KeyboardInterrupt())) == 130
    assert capsys.readouterr().err == "interrupted; nothing was written\n"


def test_a_crash_is_one_line_without_a_traceback(monkeypatch, capsys):
    assert run(monkeypatch, fail(ZeroDivisionError("division by zero\nand more"))) == 1
    err = capsys.readouterr().err
    assert err == "hmeta: internal error: ZeroDivisionError: division by zero; run with --debug\n"


@pytest.mark.parametrize(("error", "status"), [(ZeroDivisionError("oh"), 1), (DataError("oh"), 2)])
def test_debug_shows_the_traceback_and_keeps_the_status(monkeypatch, capsys, error, status):
    assert run(monkeypatch, fail(error), "--debug") == status
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_returned_number_is_the_exit_status(monkeypatch):
    assert run(monkeypatch, lambda: 3) == 3
    assert run(monkeypatch, lambda: None) == 0


@pytest.mark.parametrize("words", [["--no-such-option"], ["too", "many"]])
def test_bad_usage_exits_with_2(monkeypatch, capsys, words):
    assert run(monkeypatch, lambda: None, *words) == 2
    assert "Try 'hmeta probe -h' for help" in capsys.readouterr().err


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert not ended.value.code
    assert capsys.readouterr().out == f"hmeta {hmeta.__version__}\n"


def test_a_reader_that_goes_away_is_no_error_message():
    line = f"{sys.executable} -m hmeta --help | true"
    ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert ended.stderr == ""


@pytest.mark.parametrize("name", sorted(cli.command_names()))
def test_every_command_has_help_and_describes_its_options(name, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert not ended.value.code
    usage, says, *listed = capsys.readouterr().out.split("\n\n")
    assert usage.startswith(f"Usage: hmeta {name}")
    assert says.endswith(".")
    assert listed


def test_indented_blocks_of_help_keep_their_lines():
    def run() -> None:
        """Do it.

            hmeta a
            hmeta b

        More.
        """

    assert cli.help_text(run) == "Do it.\n\n\b\n    hmeta a\n    hmeta b\n\nMore."


def test_flags_have_no_opposite_unless_it_is_the_default(capsys):
    with pytest.raises(SystemExit):
        cli.main(["import", "--help"])
    text = capsys.readouterr().out
    assert "--overwrite" in text
    assert "--no-" not in text
    assert "  hmeta import counts.mat -o counts.nc\n" in text


def test_an_interruption_while_the_command_loads_leaves_no_traceback():
    code = (
        "import sys, builtins\n"
        "real = builtins.__import__\n"
        "def stop(name, *rest):\n"
        "    if name == 'typer': raise KeyboardInterrupt\n"
        "    return real(name, *rest)\n"
        "builtins.__import__ = stop\n"
        "from hmeta.__main__ import main\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "interrupted; nothing was written\n")


@pytest.mark.parametrize("quiet", [True, False])
def test_an_interruption_that_was_dropped_is_raised_at_the_next_report(quiet):
    before = signal.getsignal(signal.SIGINT)
    with contextlib.suppress(KeyboardInterrupt), showing_progress(quiet=quiet) as report:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            report(Progress("sampling", (0,), 10))
    with pytest.raises(KeyboardInterrupt), showing_progress(quiet=quiet), contextlib.suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
