"""The terminal's driver for an app that begins with a card on the screen: taking the terminal over leaves it there."""

from __future__ import annotations

from textual.drivers.linux_driver import LinuxDriver


class EarlyDriver(LinuxDriver):
    def start_application_mode(self) -> None:
        """Entering the alternate screen clears it on some terminals, so the card is painted once more."""
        from tui.app import RetainApp

        overture = self._app.context.overture if isinstance(self._app, RetainApp) else None
        paint = overture.hand_over() if overture is not None else ""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if paint:
            self.write(paint)
            self.flush()
