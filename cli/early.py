"""The first question on the terminal before any library is loaded, and the keys that are pressed meanwhile kept.

The terminal is put into the mode that the app will want, so that no key is echoed: the keys wait in the terminal until
the app reads them. Whatever ends before the app begins puts the terminal back first.
"""

from __future__ import annotations

import os
import sys

from learning.first_card import first_card
from tui.early_paint import painted
from vault import kept_answer

TYPE_CHECKING = False  # as in vault.kept_answer
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from learning.first_card import FirstCard

_BACK = "\x1b[?25h\x1b[?1049l"


class Early:
    """What stands on the terminal already: `card`, of the vault at `root`, and the escapes that painted it."""

    def __init__(self, root: str, card: FirstCard, paint: str) -> None:
        self.root, self.card, self.paint = root, card, paint
        self._mode: list[Any] = []
        self._shown = False

    def begin(self) -> None:
        """Paints the card. Raises: OSError."""
        import signal
        import termios

        handle = sys.stdin.fileno()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):  # the app has its own as soon as it runs
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._killed)
        self._mode = termios.tcgetattr(handle)
        quiet = termios.tcgetattr(handle)
        quiet[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
        quiet[0] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
        termios.tcsetattr(handle, termios.TCSANOW, quiet)
        self._shown = True
        sys.stdout.write(self.paint)
        sys.stdout.flush()

    def hand_over(self) -> str:
        """Leaves screen and terminal to the app; the escapes that paint the card again, "" if that was done before."""
        if not self._shown:
            return ""
        self._shown = False
        self._restore()
        return self.paint

    def end(self) -> None:
        """Puts the terminal back as it was, unless the app has it. Once is enough, more is harmless."""
        if self._shown:
            self._shown = False
            sys.stdout.write(_BACK)
            sys.stdout.flush()
            self._restore()

    def _killed(self, number: int, _frame: object) -> None:
        import signal

        self.end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _restore(self) -> None:
        import termios

        try:
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, self._mode)  # keys that wait go on waiting
        except (termios.error, ValueError):  # the terminal has gone
            return


now: Early | None = None  # what this process has painted


def begin(arguments: Sequence[str]) -> None:
    """Paints the first card of a review, if that is asked for and known; the ordinary way has whatever is odd."""
    global now
    root = kept_answer.vault_of(arguments, ("review",))
    if root is None or sys.platform == "win32" or os.environ.get("TERM", "dumb") == "dumb":
        return
    try:
        if not (sys.stdin.isatty() and sys.stdout.isatty()) or sys.stdout.encoding.lower() != "utf-8":
            return
        card = first_card(root)
        size = os.get_terminal_size(sys.stdout.fileno())
        paint = painted(card, size.columns, size.lines, os.environ) if card is not None else ""
        if card is not None and paint:
            now = Early(root, card, paint)
            now.begin()
    except Exception:  # noqa: BLE001 (of termios, too: whatever it is, the ordinary way will meet it, and say so)
        end()


def end() -> None:
    """Puts the terminal back, if anything was painted."""
    if now is not None:
        now.end()
