"""The exception family: each subclass is a thing some caller can handle, and says what, where and what to do."""

from __future__ import annotations


class RetainError(Exception):
    """The root. `what` went wrong, `where` (path, or path:line), and the `hint` that says what to do."""

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head} ({self.hint})" if self.hint else head


class UsageError(RetainError):
    """The words of a command do not fit together."""


class VaultNotFound(UsageError):
    """No `retain.toml` in the folder or above it."""


class NotFound(UsageError):
    """No card, claim, gap or file goes by that name."""


class Refused(RetainError):
    """The guard or a rule would not let a write happen; nothing was changed."""


class EditedMeanwhile(Refused):
    """The file is no longer what was read; the newer version stays."""


class ClockWentBackwards(Refused):
    """A review would lie before the card's last one."""


class LockHeld(Refused):
    """Another process holds the lock; the message names it."""


class Damaged(RetainError):
    """A file of the vault cannot be read as what it is."""


class SchemaTooNew(RetainError):
    """The vault was written by a newer retain; nothing was touched."""


class WriteFailed(RetainError):
    """The operating system would not write (disk full, read-only, I/O error); the old bytes stand."""


class GitFailed(RetainError):
    """Git is not installed, did not end in time, or says no."""


class Unreadable(RetainError):
    """A source document cannot be read as text; the rest of the batch goes on."""


class WorkerFailed(RetainError):
    """The reading process died, ran out of memory or time, or answered nonsense."""


class TooCostly(WorkerFailed):
    """Reading a document took more time or memory than one may take: reading the same bytes again will, too."""


class FetchFailed(RetainError):
    """A document could not be had from the web; nothing was stored."""


class ModelUnavailable(RetainError):
    """No model is configured for this, or it did not answer as it should; nothing was changed."""
