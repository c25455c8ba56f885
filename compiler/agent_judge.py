"""All that an agent changed, judged: what stays, what is set aside, what comes back. Decides, and writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from compiler.agent_decks import DeckJudge
from compiler.agent_manifest import KEPT, TOO_DEEP, Manifest, Mark
from compiler.agent_output import file_fault
from compiler.agent_overlay import laid_over, new_page
from compiler.agent_pages import PageVerdict, judge_page
from compiler.agent_plan import NOT_KEPT, Kept, Plan, Restored
from compiler.agent_quarantine import Quarantine, shown
from compiler.agent_record import REPLIES, KeptPage, files_of_agents, page_event
from compiler.agent_settling import OPEN
from compiler.agent_summaries import summary_faults
from compiler.agent_trust import confidence_of, machine_sources, source_link
from compiler.agent_watch import changed_outside
from compiler.agent_world import World, is_deck
from vault import ledger
from vault.agent_run import Run
from vault.diagnostic import Diagnostic
from vault.errors import Refused
from vault.guard import sha256_hex
from vault.ids import mint
from vault.ledger import Event, parse_instant
from vault.modes import calm, own_umask
from vault.note import body_of, splice_properties
from vault.safe_path import Scope, writable
from vault.store import CONCEPTS, SUMMARIES, TOPICS

_MACHINES = ("wiki/assets/", "output/proposals/", "output/quarantine/", "output/promotion-queue.md")
_ARTICLES = (CONCEPTS, TOPICS)
_TAKEN_BACK = 0o7002  # bits of a mode that nobody sets by the way
_NAMED = 3  # paths that the line on changed modes names


class Judge:
    """Judges the work of one run. `bytes_of` holds what the agent left; of the rest the manifests tell enough.

    `copied` says of a digest whether its bytes are kept: of large files they are not read here.
    """

    def __init__(
        self,
        run: Run,
        before: Manifest,
        after: Manifest,
        bytes_of: dict[str, bytes],
        world: World,
        at: str,
        copied: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self.run, self.before, self.after, self.bytes_of, self.world = run, before, after, bytes_of, world
        self.at, self._copied = at, copied
        self.day = parse_instant(at).astimezone(world.vault.settings.zone).date().isoformat()
        self.plan = Plan(run.id, run.program)
        self.aside = Quarantine(self.plan)
        self.record: list[Event] = []

    def judged(self) -> Plan:
        """The whole plan."""
        odd = self._odd()
        left = [p for p in self._changed() if p not in odd]
        decks = [p for p in left if is_deck(p)]
        for path in left:
            if path not in decks:
                self._file(path)
        gone = [p for p in self.before.files if p not in self.after.files and p not in self.plan.clears]
        self._decks(decks, [p for p in gone if is_deck(p)])
        for path in [p for p in (*gone, *odd) if p in self.before.files and p not in self.plan.puts]:
            self._gone(path)
        self._folders()
        self._modes()
        self.plan.findings += changed_outside(self.world.vault, self.before.watched, self.after.watched)
        self.aside.close()
        self._take_down()
        return self.plan

    # --- what is no plain file of a plain name --------------------------------------------------------------------

    def _odd(self) -> set[str]:
        """Set aside what is new of these; their paths."""
        found: set[str] = set()
        for path, odd in self.after.odd.items():
            if self.before.odd.get(path) != odd:
                found.add(path)
                if odd.words == TOO_DEEP:
                    self.plan.fells[path] = odd.identity
                    self.aside.take(path, None, [(0, f"{odd.words}: they were removed, with all that they held")])
                    continue
                self.plan.clears[path] = odd.identity
                words = shown(odd.words)
                self.aside.take(path, f"{words}\n".encode(), [(0, words)], "put the file itself there, not a link")
        inodes: dict[int, int] = {}
        for mark in self.after.files.values():
            inodes[mark.stamp[3]] = inodes.get(mark.stamp[3], 0) + 1
        for path in self._changed():
            mark = self.after.files[path]
            why = self._oddness(path, mark)
            if why:
                found.add(path)
                self.plan.clears[path] = mark.identity
                # Of a file that has a name elsewhere, too, nobody knows whose it is: no copy is made of it here.
                ours = mark.links <= inodes[mark.stamp[3]]
                self.aside.take(path, self.bytes_of.get(path) if ours else None, [(0, why)])
        return found

    def _oddness(self, path: str, mark: Mark) -> str:
        if mark.links > 1 and mark.links != self._links_before(path):
            return "a hard link: the same file has another name, too"
        if not mark.sha256:
            return "it cannot be read"
        try:
            if path not in self.before.files:  # a name that was there before may be the human's
                writable(path, Scope.AGENT)
        except Refused as error:
            return f"its name: {error.what}"
        return ""

    def _links_before(self, path: str) -> int:
        mark = self.before.files.get(path)
        return mark.links if mark is not None else 1

    def _changed(self) -> list[str]:
        """The plain files that are new, hold other bytes, or have another name elsewhere now."""
        out = []
        for path, mark in self.after.files.items():
            old = self.before.files.get(path)
            if old is None or (old.sha256, old.links) != (mark.sha256, mark.links):
                out.append(path)
        return sorted(out)

    def _folders(self) -> None:
        """Folders that came and hold nothing that stays go again."""
        above = {
            "/".join(kept.path.split("/")[:n]) for kept in self.plan.kept for n in range(1, kept.path.count("/") + 1)
        }
        for path, identity in self.after.folders.items():
            if path not in self.before.folders and path not in above:
                self.plan.clears.setdefault(path, identity)

    def _modes(self) -> None:
        """What was there has its own mode again, what is new none that lets more than its owner change or run it."""
        plan, told = self.plan, dict[str, int]()
        for path, old in self.before.files.items():
            now = self.after.files.get(path) if path not in plan.clears else None
            comes = path in plan.puts or path in plan.backs
            if old.mode < 0 or not (now or comes) or (now is not None and now.mode == old.mode):
                continue
            plan.modes[path] = old.mode
            # Programs that save by another name change the mode by the way: that is mended, and no news.
            if now is not None and (now.sha256 == old.sha256 or now.mode & ~old.mode & _TAKEN_BACK):
                told[path] = now.mode
        for path, mode in self.after.modes.items():
            was = self.before.modes.get(path)
            if was is not None and was != mode:
                plan.modes[path], told[path] = was, mode
            if was is not None and was & OPEN != OPEN:
                plan.modes[path] = was
                plan.opens.append(path)
        umask = own_umask()
        new = {p: (m.mode, calm(m.mode, umask)) for p, m in self.after.files.items() if p not in self.before.files}
        folders = {p: m for p, m in self.after.modes.items() if p not in self.before.modes}
        new |= {path: (mode, calm(mode, umask, is_folder=True)) for path, mode in folders.items()}
        for path, (mode, wanted) in new.items():
            if mode != wanted and path not in plan.clears and path not in plan.drops:
                plan.modes[path] = wanted
                if mode & _TAKEN_BACK:
                    told[path] = mode
        if told:
            first = [f"{shown(path)} ({mode:o})" for path, mode in sorted(told.items())]
            more = f" and {len(first) - _NAMED} more" if len(first) > _NAMED else ""
            what = f"modes that were set are taken back: {', '.join(first[:_NAMED])}{more}"
            plan.findings.append(Diagnostic(shown(min(told)), 0, "modes-changed", what))

    # --- files ----------------------------------------------------------------------------------------------------

    def _file(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        if self.before.files.get(path, Mark("", (0, 0, 0, 0))).sha256 == self.after.files[path].sha256:
            return  # its bytes are what they were
        if _is_machines(path):
            self._refuse(path, [(0, "retain alone writes this")], quietly=path in self.before.files)
        elif folder == SUMMARIES and name.endswith(".md"):
            old = self.world.text(path)
            faults = summary_faults(old, self.bytes_of.get(path), path, self.world)
            todo = "write what you found in wiki/concepts/ or wiki/topics/, and cite the claims that stand there"
            self._refuse(path, faults, todo)
        elif folder in _ARTICLES and name.endswith(".md"):
            self._page(path)
        elif path.startswith("output/"):
            self._output(path)
        else:
            self._refuse(path, [(0, "nothing of this kind stands here")], "reports and the like go to output/")

    def _output(self, path: str) -> None:
        why = file_fault(path, self.bytes_of.get(path))
        if why is not None:
            self._refuse(path, [why], "write it without what acts")
            return
        if self._is_humans_file(path):
            stays = ": the human's version stays" if self._is_kept(path) else ""
            why = (0, f"the human wrote or edited what stood here{stays}")
            self._refuse(path, [why], "write yours under another name")
            return
        mark = self.after.files[path]
        self.record.append(self._event("file", path=shown(path), sha256=mark.sha256, size=mark.stamp[0]))
        self.plan.kept.append(Kept(path, "file"))

    def _is_humans_file(self, path: str) -> bool:
        """Whether a file of output/ held bytes that no run recorded: what is no agent's is the human's."""
        before = self.before.files.get(path)
        return before is not None and (shown(path), before.sha256) not in self._files_of_agents

    @cached_property
    def _files_of_agents(self) -> frozenset[tuple[str, str]]:
        return files_of_agents(self.world.vault)

    def _page(self, path: str) -> None:
        data = self.bytes_of.get(path)
        if data is None:
            self._refuse(path, [(0, f"more than {KEPT >> 20} MiB")])
        elif path in self.before.files and self.world.is_humans(path):
            self._refuse(path, [(0, "the human edited this page: the human's version stays")])
        else:
            verdict = judge_page(path, data, self.world, self._pages)
            if verdict.faults:
                todo = "keep to sections 4 and 11 of AGENTS.md, and write it again"
                self._refuse(path, verdict.faults, todo)
            else:
                self._keep(path, data, verdict)

    @cached_property
    def _pages(self) -> frozenset[str]:
        """All notes that a link may lead to."""
        return frozenset({*self.before.files, *self.after.files})

    def _keep(self, path: str, data: bytes, verdict: PageVerdict) -> None:
        """Record the page, and put it down as code would."""
        old = self.world.text(path)
        own = self.world.own_page(path)
        alone = old is None or own is not None  # no page of the machine's lies below it
        base = "" if old is None or own is not None else sha256_hex(old.encode())
        id_ = own.id if own is not None else mint("page", f"{path}:{self.run.id}", self.world.ids.births)
        page = KeptPage(id_, path, verdict.title if alone else "", verdict.body, base, self.run.id, self.at)
        link = source_link(self.world)
        if old is None or own is not None:
            text = new_page(page, self.day, confidence_of(verdict.body, self.world), link, old)
        else:
            machine = splice_properties(old, {"sources": machine_sources(self.world, old)})
            text = laid_over(machine, page, self.day, link)
        if old is not None and body_of(text) == body_of(old):
            self._back(path, "its words are the machine's own")
            return
        if verdict.put_back:
            why = f"the properties {', '.join(verdict.put_back)} are not an agent's to set"
            self.plan.restored.append(Restored(path, why))
        self.record.append(page_event(page))
        self._put(path, text.encode(), data)
        self.plan.kept.append(Kept(path, "page"))

    def _decks(self, left: Sequence[str], gone: Sequence[str]) -> None:
        """The decks as they were, with the agent's cards that passed."""
        same = [p for p in left if p in self.before.files and self.before.files[p].sha256 == self.after.files[p].sha256]
        left = [p for p in left if p not in same]
        if not left and not gone:
            return
        known = {p: self.bytes_of[p] for p in left if p in self.bytes_of}
        verdict = DeckJudge(self.world, self.run.id, self.at).judge(known, gone)
        for path in sorted({*left, *gone, *verdict.texts}):
            now = self.bytes_of.get(path) if path in left else self._standing(path)
            faults = verdict.faults.get(path, []) if path in known else [(0, "too large to be read")]
            if path in left and faults:
                self.aside.take(path, known.get(path), faults, "cards need a claim of their article below the answer")
            wanted = verdict.texts[path].encode() if path in verdict.texts else self.world.data(path)
            told = bool(faults) or path in {p for p, _ in (*verdict.kept, *verdict.back)}
            self._lay(path, wanted, now, "" if told else "its order and its words beside the cards are retain's")
        self.plan.restored += [Restored(path, why) for path, why in verdict.back]
        self.plan.lines.setdefault(ledger.IDS, []).extend(map(ledger.encode, verdict.events))
        self.plan.kept += [Kept(path, "card", str(id_)) for path, id_ in verdict.kept]

    def _standing(self, path: str) -> bytes | None:
        """What a deck holds that the agent left alone."""
        return self.world.data(path) if path in self.after.files else None

    # --- what comes back ------------------------------------------------------------------------------------------

    def _refuse(self, path: str, faults: Sequence[tuple[int, str]], todo: str = "", *, quietly: bool = False) -> None:
        """Set the agent's version aside (of a product that retain makes anyway not even that), and undo it."""
        if not quietly:
            self.aside.take(path, self.bytes_of.get(path), faults, todo)
        self._back(path, faults[0][1] if quietly else "")

    def _back(self, path: str, why: str) -> None:
        """Undo what the agent did to a file; with "", somebody has said why already."""
        if path not in self.before.files:
            self.plan.drops[path] = self.after.files[path].sha256
        elif self._return(path, self.after.files[path].sha256):
            self.plan.restored += [Restored(path, why)] if why else []

    def _return(self, path: str, expect: str | None) -> bool:
        """Put on the plan that a file is to be as it was before; False, and a finding, where no copy of it is kept."""
        mark = self.before.files[path]
        if not self._is_kept(path):
            what, hint = "what stood here before the agent was not kept, and is lost", "take it from git or your backup"
            self.plan.findings.append(Diagnostic(shown(path), 0, NOT_KEPT, what, hint))
            return False
        if mark.stamp[0] > KEPT:
            self.plan.backs[path] = (expect, mark.sha256)
        else:
            self.plan.puts[path] = (expect, self.world.must(path))
        return True

    def _is_kept(self, path: str) -> bool:
        """Whether there is a copy of what a file held before."""
        mark = self.before.files.get(path)
        return mark is not None and bool(mark.sha256) and self._copied(mark.sha256)

    def _gone(self, path: str) -> None:
        """A file that the agent deleted, or that something odd stands in the place of."""
        loose = path.startswith("output/") and not _is_machines(path) and not self._is_humans_file(path)
        if loose and path not in self.plan.clears:
            self.record.append(self._event("file", path=shown(path), sha256="", size=0))
            self.plan.kept.append(Kept(path, "deletion"))
            return
        if self._return(path, None):
            self.plan.restored.append(Restored(path, "it was deleted"))

    def _put(self, path: str, text: bytes, now: bytes | None) -> None:
        if text != now:
            self.plan.puts[path] = (sha256_hex(now) if now is not None else None, text)

    def _lay(self, path: str, wanted: bytes | None, now: bytes | None, why: str) -> None:
        """Make `wanted` of what stands there `now`; None is no file. With "", somebody has said why already."""
        expect = self.after.files[path].sha256 if path in self.after.files else None
        if wanted is None and expect is not None:
            self.plan.drops[path] = expect
        elif wanted is not None and (expect is None or wanted != now):
            self.plan.puts[path] = (expect, wanted)
            self.plan.restored += [Restored(path, why)] if why else []

    # --- the record -----------------------------------------------------------------------------------------------

    def _event(self, type_: str, **facts: object) -> Event:
        return {"v": 1, "type": type_, "run": self.run.id, "at": self.at, **facts}

    def _take_down(self) -> None:
        """What the ledger of the run says; nothing of a run that changed nothing."""
        plan = self.plan
        if not (plan.kept or plan.quarantined or plan.restored):
            return
        counts = {"kept": len(plan.kept), "quarantined": len(plan.quarantined), "restored": len(plan.restored)}
        head = self._event("run", program=self.run.program, began=self.run.at, **counts)
        plan.lines[f"{REPLIES}/{self.run.id}.jsonl"] = [ledger.encode(e) for e in [head, *self.record]]


def _is_machines(path: str) -> bool:
    """Whether a path of the agent's folders is one that retain alone writes."""
    return path.startswith(_MACHINES) or (path.startswith("wiki/_") and path.count("/") == 1)
