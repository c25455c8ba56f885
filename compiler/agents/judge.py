"""Decide about everything that an agent changed: what stays, what is quarantined, what comes back. Writes nothing."""

from __future__ import annotations

from compiler.agents.apply import OPEN
from compiler.agents.articles import Evidence, article_fault, article_text, body_in, title_in, unsupported
from compiler.agents.baseline import Baseline
from compiler.agents.inert import file_fault
from compiler.agents.manifest import TOO_DEEP, Manifest, Mark
from compiler.agents.plan import NOT_KEPT, Kept, Note, Outcome, Plan
from compiler.agents.quarantine import Quarantine, shown
from compiler.agents.record import REPLIES, KeptPage, page_event
from compiler.agents.watched import changed_outside
from vault.audit.agent_runs import Run
from vault.diagnostic import Diagnostic
from vault.errors import Refused
from vault.files.guard import sha256_hex
from vault.files.permissions import calm, own_umask
from vault.files.write_scopes import Scope, is_append_only, is_conflict_copy, writable
from vault.ids import mint
from vault.layout import ANSWERS, CONCEPTS, FLASHCARDS, SUMMARIES, TOPICS
from vault.log import ledger
from vault.log.ledger import Event, day_of
from vault.model.frontmatter import body_of

_MACHINES = ("wiki/assets/", "output/proposals/", "output/quarantine/", "output/promotion-queue.md")
_TAKEN_BACK = 0o7002  # bits of a mode that nobody sets by the way
_NAMED = 3  # paths that the line on changed modes names


class Judge:
    """Decides about the work of one run. `bytes_of` holds what the agent left."""

    def __init__(
        self, run: Run, before: Manifest, after: Manifest, bytes_of: dict[str, bytes], baseline: Baseline, at: str
    ) -> None:
        self.run, self.before, self.after, self.bytes_of, self.baseline = run, before, after, bytes_of, baseline
        self.at = at
        self.plan = Plan(Outcome(run.id, run.program))
        self.outcome = self.plan.outcome
        self.quarantine = Quarantine(self.plan)
        self.evidence = Evidence(baseline.claim, baseline.source_link)
        self.record: list[Event] = []

    def plan_for_run(self) -> Plan:
        """Return the whole plan."""
        invalid = self._invalid()
        for path in self._changed():
            if path not in invalid:
                self._file(path)
        for path in self.before.files:
            if (path not in self.after.files or path in invalid) and path not in self.plan.writes:
                self._gone(path)
        self._folders()
        self._modes()
        self.outcome.findings += changed_outside(self.baseline.vault, self.before.watched, self.after.watched)
        self.quarantine.close()
        self._record_run()
        return self.plan

    # --- what is not a plain file of a plain name --------------------------------------------------------------------

    def _invalid(self) -> set[str]:
        """Quarantine what is new of these; return their paths."""
        found: set[str] = set()
        for path, special in self.after.special.items():
            if self.before.special.get(path) == special:
                continue
            found.add(path)
            if special.words == TOO_DEEP:
                self.plan.trees[path] = special.identity
                self.quarantine.take(path, None, 0, f"{TOO_DEEP}: they were removed with everything in them")
            else:
                self.plan.removals[path] = special.identity
                words = shown(special.words)
                self.quarantine.take(path, f"{words}\n".encode(), 0, words, "replace the link with the file itself")
        names: dict[int, int] = {}  # inode -> how many names it has in the agent's folders
        for mark in self.after.files.values():
            names[mark.inode] = names.get(mark.inode, 0) + 1
        for path in self._changed():
            mark = self.after.files[path]
            if why := self._invalid_file(path, mark):
                found.add(path)
                self.plan.removals[path] = mark.identity
                # Of a file that has a name elsewhere, too, nobody knows whose it is: no copy is made of it here.
                is_agents = mark.links <= names[mark.inode]
                self.quarantine.take(path, self.bytes_of.get(path) if is_agents else None, 0, why)
        return found

    def _invalid_file(self, path: str, mark: Mark) -> str:
        old = self.before.files.get(path)
        if mark.links > 1 and mark.links != (old.links if old is not None else 1):
            return "a hard link: the file also exists under another name"
        if not mark.sha256:
            return "it cannot be read"
        try:
            if old is None and is_append_only(writable(path, Scope.AGENT)):  # an old name may be the user's
                return "a .jsonl file in the cards folder; only retain writes such logs"
        except Refused as error:
            return f"its name: {error.what}"
        return ""

    def _changed(self) -> list[str]:
        """Return the plain files that are new, hold other bytes, or have another name elsewhere now."""
        before = self.before.files
        return sorted(
            path
            for path, mark in self.after.files.items()
            if path not in before or (before[path].sha256, before[path].links) != (mark.sha256, mark.links)
        )

    def _folders(self) -> None:
        """Remove folders that are new and hold nothing that stays."""
        kept = [each.path.split("/") for each in self.outcome.kept]
        above = {"/".join(parts[:n]) for parts in kept for n in range(1, len(parts))}
        for path, identity in self.after.folders.items():
            if path not in self.before.folders and path not in above:
                self.plan.removals.setdefault(path, identity)

    def _modes(self) -> None:
        """Give what was there its own mode again, and what is new none that lets others change it or runs it."""
        plan, reported = self.plan, dict[str, int]()
        for path, old in self.before.files.items():
            now = self.after.files.get(path) if path not in plan.removals else None
            if old.mode < 0 or not (now or path in plan.writes) or (now is not None and now.mode == old.mode):
                continue
            plan.modes[path] = old.mode
            # Programs that save by another name change the mode by the way: that is mended, and no news.
            if now is not None and (now.sha256 == old.sha256 or now.mode & ~old.mode & _TAKEN_BACK):
                reported[path] = now.mode
        for path, mode in self.after.modes.items():
            was = self.before.modes.get(path)
            if was is not None and was != mode:
                plan.modes[path], reported[path] = was, mode
            if was is not None and was & OPEN != OPEN:
                plan.modes[path] = was
                plan.opened.append(path)
        umask = own_umask()
        new = {p: (m.mode, calm(m.mode, umask)) for p, m in self.after.files.items() if p not in self.before.files}
        folders = {p: m for p, m in self.after.modes.items() if p not in self.before.modes}
        new |= {path: (mode, calm(mode, umask, is_folder=True)) for path, mode in folders.items()}
        for path, (mode, wanted) in new.items():
            if mode != wanted and path not in plan.removals and path not in plan.deletes:
                plan.modes[path] = wanted
                if mode & _TAKEN_BACK:
                    reported[path] = mode
        if reported:
            first = [f"{shown(path)} ({mode:o})" for path, mode in sorted(reported.items())]
            more = f" and {len(first) - _NAMED} more" if len(first) > _NAMED else ""
            what = f"file permissions were reset: {', '.join(first[:_NAMED])}{more}"
            self.outcome.findings.append(Diagnostic(shown(min(reported)), 0, "modes-changed", what))

    # --- files ----------------------------------------------------------------------------------------------------

    def _file(self, path: str) -> None:
        old = self.before.files.get(path)
        if old is not None and old.sha256 == self.after.files[path].sha256:
            return  # its bytes are what they were
        folder, _, name = path.rpartition("/")
        is_page = name.endswith(".md") and not is_conflict_copy(path)
        if _is_machines(path):
            why = "only retain writes this file"
            if old is None:
                self._refuse(path, 0, why)
            else:
                self._undo(path, why)
        elif is_page and folder in (CONCEPTS, TOPICS, ANSWERS):
            self._article(path)
        elif is_page and folder == SUMMARIES:
            todo = "write what you found in wiki/concepts/ or wiki/topics/, and cite existing claims"
            self._refuse(path, 0, "only retain writes summaries of sources", todo)
        elif is_page and folder == FLASHCARDS:
            todo = "get work orders for cards with `retain agent next`, and submit the replies"
            self._refuse(path, 0, "cards that an agent writes into a deck are not accepted", todo)
        elif path.startswith("output/"):
            self._output(path)
        else:
            self._refuse(path, 0, "files of this kind are not allowed here", "put reports in output/")

    def _output(self, path: str) -> None:
        if (fault := file_fault(path, self.bytes_of.get(path))) is not None:
            self._refuse(path, *fault, "write it without active content")
        elif self.baseline.is_humans_file(path):
            self._refuse(path, 0, self._humans(path, "the user wrote or edited this file"), "use another name")
        else:
            mark = self.after.files[path]
            self.record.append(self._event("file", path=path, sha256=mark.sha256, size=mark.size))
            self.outcome.kept.append(Kept(path, "file"))

    def _article(self, path: str) -> None:
        data, is_new = self.bytes_of.get(path), path not in self.before.files
        if not is_new and self.baseline.is_humans_article(path):
            self._refuse(path, 0, self._humans(path, "the user edited this page"))
        elif not is_new and path.startswith(f"{ANSWERS}/") and self.baseline.own_page(path) is None:
            self._refuse(
                path, 0, "retain wrote this answer", "to replace it, ask the user to run `retain ask ... --file-back`"
            )
        elif (fault := article_fault(path, data, self.baseline.ids, is_new=is_new)) is not None or data is None:
            self._refuse(path, *(fault or (0, "it cannot be read")), "write it again without the part named above")
        else:
            self._keep(path, data)

    def _humans(self, path: str, why: str) -> str:
        return f"{why}: the user's version was kept" if self.baseline.has_copy(path) else why

    def _keep(self, path: str, data: bytes) -> None:
        """Record the article, and write it with the properties that code sets."""
        old, own = self.baseline.text(path), self.baseline.own_page(path)
        machine = old if own is None else None  # the machine's article below it
        body = body_in(data)
        if old is not None and body.strip() == body_of(old).strip():
            self._undo(path, "only retain may set its properties")
            return
        id_ = own.id if own is not None else mint("page", f"{path}:{self.run.id}", self.baseline.ids.births)
        base = sha256_hex(machine.encode()) if machine is not None else ""
        title = "" if machine is not None else title_in(body, path)
        page = KeptPage(id_, path, title, body, base, self.run.id, self.at)
        day = day_of(self.at, self.baseline.vault.settings.zone)
        text = article_text(page, machine, day, self.evidence, old)
        self.record.append(page_event(page))
        self.plan.write(path, sha256_hex(data), text.encode())
        self.outcome.kept.append(Kept(path, "page"))
        self.outcome.unsupported += [Note(path, why, line) for line, why in unsupported(text, self.evidence)]

    # --- what comes back ------------------------------------------------------------------------------------------

    def _refuse(self, path: str, line: int, why: str, todo: str = "") -> None:
        """Quarantine the agent's version, and undo it."""
        self.quarantine.take(path, self.bytes_of.get(path), line, why, todo)
        self._undo(path)

    def _undo(self, path: str, why: str = "") -> None:
        """Undo what the agent did to a file; without `why`, the reason is reported already."""
        now = self.after.files[path].sha256
        if path not in self.before.files:
            self.plan.deletes[path] = now
        elif self._return(path, now) and why:
            self.outcome.restored.append(Note(path, why))

    def _gone(self, path: str) -> None:
        """A file that the agent deleted, or that something invalid is in the place of."""
        is_agents = path.startswith("output/") and not _is_machines(path) and not self.baseline.is_humans_file(path)
        if is_agents and path not in self.plan.removals:
            self.record.append(self._event("file", path=path, sha256="", size=0))
            self.outcome.kept.append(Kept(path, "deletion"))
        elif self._return(path, None):
            self.outcome.restored.append(Note(path, "it was deleted"))

    def _return(self, path: str, expected: str | None) -> bool:
        """Plan that a file is as it was before; return False, with a finding, where no copy of it is kept."""
        if self.baseline.has_copy(path):
            self.plan.writes[path] = (expected, self.before.files[path].sha256)
            return True
        what, hint = (
            "there is no backup of the version from before the agent's run, so it is lost",
            "restore it from git or a backup",
        )
        self.outcome.findings.append(Diagnostic(shown(path), 0, NOT_KEPT, what, hint))
        return False

    # --- the record -----------------------------------------------------------------------------------------------

    def _event(self, type_: str, **facts: object) -> Event:
        return {"v": 1, "type": type_, "run": self.run.id, "at": self.at, **facts}

    def _record_run(self) -> None:
        """Write what the ledger says of the run; nothing of a run that changed nothing."""
        done = self.outcome
        counts = {"kept": len(done.kept), "quarantined": len(done.quarantined), "restored": len(done.restored)}
        if any(counts.values()):
            head = self._event("run", program=self.run.program, began=self.run.at, **counts)
            lines = [ledger.encode(event).decode() for event in (head, *self.record)]
            self.plan.lines[f"{REPLIES}/{self.run.id}.jsonl"] = lines


def _is_machines(path: str) -> bool:
    """Return whether a path of the agent's folders is one that retain alone writes."""
    return path.startswith(_MACHINES) or (path.startswith("wiki/_") and path.count("/") == 1)
