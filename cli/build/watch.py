"""What `retain compile --watch` does: compile at the start and after each burst of changes in raw/."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

import click

from cli import output
from cli.build.raw_changes import bursts, require_watchfiles
from cli.environment import now
from cli.options import opened, opened_to_write
from compiler.model.report import Report
from vault.audit.agent_runs import at_work
from vault.diagnostic import Diagnostic
from vault.errors import LockHeld, Refused, RetainError, UsageError, VaultNotFound
from vault.inbox.listing import waiting
from vault.inbox.suggestions import offered
from vault.log.ledger import instant
from vault.vault import Vault

QUIET_S = 1.0  # how long nothing changes before a compile, unless the user says otherwise
_AGAIN = 10  # times the quiet time: when a compile that another process held up is tried again


@dataclass(slots=True)
class Watch:
    """Compiles of one vault, one after the other; `compile_one` does one and returns its report."""

    vault_dir: str | None
    compile_one: Callable[[Vault], Report]
    explain: bool
    as_json: bool
    _shown: frozenset[Diagnostic] = field(default_factory=frozenset)  # by the last compile
    _waits: bool = False  # for another process, as was reported

    def run(self, quiet_s: float) -> int:
        """Compile whenever raw/ changed and was quiet for `quiet_s`, until KeyboardInterrupt; report each compile.

        Raises: UsageError; Refused where the system cannot watch raw/.
        """
        require_watchfiles()
        vault = opened(self.vault_dir)
        is_open, not_before = False, 0.0
        for is_changed in bursts(vault.root, quiet_s, vault.notes):
            is_open = is_open or is_changed
            if is_open and time.monotonic() >= not_before:
                is_open = not self._compile(vault)
                not_before = time.monotonic() + (_AGAIN * quiet_s if is_open else 0.0)
        return output.DONE

    def _compile(self, vault: Vault) -> bool:
        """Compile and report; return False if another compile or an agent runs, so that it is to be tried again."""
        at = now()
        try:
            with click.Context(click.Command("compile")):  # what a command does at its end is done after each compile
                vault = opened_to_write(str(vault.root))  # its settings may have changed
                self._show(vault, self.compile_one(vault), at)
        except (RetainError, OSError) as error:
            if isinstance(error, UsageError) and not isinstance(error, VaultNotFound):
                raise  # it would be the same next time; a vault may be gone for a moment, as git works on it
            is_busy = isinstance(error, LockHeld) or (isinstance(error, Refused) and at_work(vault))
            if not (is_busy and self._waits):  # once while another process is at it
                self._show_failure(error, at)
            self._waits = is_busy
            return not is_busy
        finally:
            gc.unfreeze()  # a compile exempts what there is from garbage collection: here, many follow
            gc.collect()
        self._waits = False
        return True

    def _show(self, vault: Vault, done: Report, at: datetime) -> None:
        """Print what a compile did: a line, or an object on a line; what is newly wrong goes to stderr."""
        if self.as_json:
            counts = {"inbox": waiting(vault)[0], "suggested": len(offered(vault).suggestions)}
            output.show_json_line({"at": instant(at), **done.as_json(), **counts})
            return
        words = "nothing new" if done.nothing_new else done.summary
        output.show(f"{at.astimezone(vault.settings.zone):%H:%M:%S}  {words}")
        if self.explain:
            show_reasons(done)
        output.flush()
        wrong = [*done.failures, *done.notices]
        output.found(each for each in wrong if each not in self._shown)
        self._shown = frozenset(wrong)

    def _show_failure(self, error: RetainError | OSError, at: datetime) -> None:
        """Report why a compile was not done."""
        if self.as_json:
            output.show_json_line({"at": instant(at), "not_compiled": str(error)})
        else:
            output.say(f"not compiled: {error}")


def show_reasons(done: Report) -> None:
    """Print why each file was made again."""
    output.show_first([f"{path}: {why}" for path, why in done.why.items()], len(done.why))
