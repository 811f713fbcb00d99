"""`ralph notify`: whether notifications arrive, before a night depends on them."""

import logging
import time

import typer

from ralph_notify.courier import couriers
from ralph_notify.messages import trial
from ralph_notify.settings import NotifySettings

__all__ = ["app_for"]


def app_for(settings: NotifySettings) -> typer.Typer:
    """The command under some settings."""
    app = typer.Typer(add_completion=False)

    @app.command(help="Send a test notification to every address, and say which took it.")
    def notify() -> None:  # pyright: ignore[reportUnusedFunction]
        if not settings.urls:
            typer.echo("No address is set: see `urls` under [plugins.notify].", err=True)
            raise typer.Exit(2)
        logging.getLogger("ralph.notify").setLevel(logging.CRITICAL)  # it is told below
        sound = True
        sent = couriers(settings.urls)
        for courier in sent:
            courier.post(trial())
        until = time.monotonic() + 3 * settings.patience
        for courier in sent:
            failure = "it takes too long" if not courier.wait(until) else courier.failure
            sound = sound and not failure
            typer.echo(f"Address {courier.name}: {failure or 'took it'}.")
        if not sound:
            raise typer.Exit(1)

    return app
