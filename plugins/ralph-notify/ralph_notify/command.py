"""The command `ralph notify`: a test message to every address."""

import logging
import time

import typer

from ralph_notify.messages import sample_message
from ralph_notify.notifier import senders
from ralph_notify.settings import NotifySettings

__all__ = ["app_for"]


def app_for(settings: NotifySettings) -> typer.Typer:
    """Return the command for the given settings."""
    app = typer.Typer(add_completion=False)

    @app.command(help="Send a test notification to every address, and report which address accepts it.")
    def notify() -> None:  # pyright: ignore[reportUnusedFunction]
        if not settings.urls:
            typer.echo("No address is set. Add one to `urls` under [plugins.notify] in ralph.toml.", err=True)
            raise typer.Exit(2)
        logging.getLogger("ralph.notify").setLevel(logging.CRITICAL)  # failures are printed below
        passed = True
        used = senders(settings.urls)
        for sender in used:
            sender.post(sample_message())
        until = time.monotonic() + 3 * settings.patience
        for sender in used:
            failure = sender.failure if sender.wait(until) else "it did not answer in time"
            passed = passed and not failure
            typer.echo(f"Address {sender.name}: {failure or 'it accepted the message'}.")
        if not passed:
            raise typer.Exit(1)

    return app
