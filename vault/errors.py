"""The exceptions of retain. Each says what went wrong, where, and what to do."""

from __future__ import annotations


class RetainError(Exception):
    """The base class: `what` went wrong, `where` (path, or path:line), and a `hint` what to do."""

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head} ({self.hint})" if self.hint else head


class UsageError(RetainError):
    """The arguments of a command are wrong or do not fit together."""


class VaultNotFound(UsageError):
    """No `retain.toml` in the folder or above it."""


class NotFound(UsageError):
    """No card, claim, gap or file has that name."""


class Refused(RetainError):
    """A rule does not permit a write; nothing was changed."""


class EditedMeanwhile(Refused):
    """The file is no longer what was read; the newer version stays."""


class ClockWentBackwards(Refused):
    """A review would be dated before the card's last one."""


class LockHeld(Refused):
    """Another process holds the lock; the message names it."""


class Damaged(RetainError):
    """A file of the vault has an invalid format."""


class SchemaTooNew(RetainError):
    """The vault was written by a newer version of retain; nothing was changed."""


class WriteFailed(RetainError):
    """The operating system failed to write (disk full, read-only, I/O error); the old bytes are still there."""


class GitFailed(RetainError):
    """Git is not installed, timed out, or failed."""


class Unreadable(RetainError):
    """A source document cannot be read as text; the rest of the batch goes on."""


class WorkerFailed(RetainError):
    """The reading process died, exceeded its memory or time, or gave an invalid answer."""


class TooCostly(WorkerFailed):
    """Reading a document exceeded the time or memory limit, and would do so again."""


class FetchFailed(RetainError):
    """A document could not be fetched; nothing was stored."""


class ModelUnavailable(RetainError):
    """No model is configured, or it failed; nothing was changed."""
