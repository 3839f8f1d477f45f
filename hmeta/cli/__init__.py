"""The command line: arguments, one call, one exit status.

Each module of this folder is one command. Its function ``run`` carries the options as annotated arguments
and the help as its docstring; it imports what it needs itself, so that help and completion stay quick.
"""

from __future__ import annotations

import inspect
import os
import pkgutil
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer._click.exceptions import ClickException

from hmeta.core.errors import HmetaError

OK, CRASHED, REFUSED, INTERRUPTED = 0, 1, 2, 130


def command_names() -> dict[str, str]:
    """Return the module of each command, by the name that the user types."""
    found = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    return {name.strip("_").replace("_", "-"): f"{__name__}.{name}" for name in found}


def build_app() -> typer.Typer:
    """Return the application with every command of this folder."""
    app = typer.Typer(
        name="hmeta",
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_globals)
    for name, module in command_names().items():
        run: Callable[..., Any] = import_module(module).run
        app.command(name, help=help_text(run))(run)
    return app


def help_text(run: Callable[..., Any]) -> str:
    """Return a function's docstring as help in which indented blocks keep their lines."""
    blocks = (inspect.getdoc(run) or "").split("\n\n")
    return "\n\n".join(f"\b\n{block}" if block.startswith("    ") else block for block in blocks)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``hmeta``; those of the process by default.
    """
    _keep_compiled()
    words, debug = _take_debug(sys.argv[1:] if arguments is None else arguments)
    sys.exit(_flush(_run_safely(words, debug=debug)))


def _keep_compiled() -> None:
    """Have JAX, wherever a command comes to import it, keep compiled programs for the next run."""
    import platformdirs

    folder = os.path.join(platformdirs.user_cache_dir("hmeta"), "jax")
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", folder)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


def _show_version(asked: bool) -> None:
    if asked:
        from hmeta import __version__

        typer.echo(f"hmeta {__version__}")
        raise typer.Exit


def _globals(
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version and exit.")
    ] = False,
    _debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (anywhere on the line).")
    ] = False,
) -> None:
    """Estimate how well confidence tells right answers from wrong ones (hierarchical meta-d′).

    Start with: hmeta fit results.nc
    """


def _take_debug(words: Sequence[str]) -> tuple[list[str], bool]:
    """Split ``--debug`` off, wherever it stands before a bare ``--``."""
    end = list(words).index("--") if "--" in words else len(words)
    kept = [word for word in words[:end] if word != "--debug"]
    return [*kept, *words[end:]], len(kept) < end


def _run(words: list[str]) -> int:
    """Run the words; a usage error is shown here, anything else is raised."""
    try:
        result = typer.main.get_command(build_app())(args=words, prog_name="hmeta", standalone_mode=False)
    except ClickException as error:
        error.show()
        return REFUSED
    if result == INTERRUPTED:
        _complain("interrupted; nothing was written")
    return result if isinstance(result, int) else OK


def _run_safely(words: list[str], *, debug: bool) -> int:
    """Run the words and turn every error into one message, or with `debug` its traceback, and a status."""
    try:
        return _run(words)
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted; nothing was written")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the last stop: a user never sees a traceback unasked)
        _complain("".join(traceback.format_exception(error)) if debug else _one_message(error))
        return error.exit_status if isinstance(error, HmetaError) else CRASHED


def _one_message(error: Exception) -> str:
    if isinstance(error, HmetaError):
        return f"hmeta: {error.message}"
    first_line = f"{type(error).__name__}: {error}".splitlines()[0]
    return f"hmeta: internal error: {first_line}; run with --debug"


def _complain(message: str) -> None:
    typer.echo(message, err=True)


def _flush(status: int) -> int:
    """Flush the output; a reader that has gone (``hmeta summary fit.nc | head``) is no error worth a message."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CRASHED
    return status
