"""AnkiConnect for tests: its published protocol, version 6, over HTTP on loopback, before a real Anki collection.

It is written from the protocol's description: one POST with {action, version, params, key}, one reply with {result,
error}. What a client may come across is here too: a key, a denied permission, an old version, an odd answer.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class ConnectServer:
    """`calls` are the actions that were asked for; those of `multi` too."""

    col: Any
    key: str = ""
    permission: str = "granted"
    version: int = 6
    raw: bytes | None = None  # an answer to every request, in place of the true one
    status: int = 200
    imports: bool = False  # whether it takes packages; add-ons older than their Anki can't
    break_after: int | None = None  # so many writing actions are done, then the connection breaks
    port: int = 0
    calls: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, request: Any) -> dict[str, Any]:
        try:
            action, params = request["action"], request.get("params", {})
            if self.key and action != "requestPermission" and request.get("key") != self.key:
                raise ValueError("valid api key must be provided")
            self.calls.append(action)
            does: Callable[..., Any] | None = getattr(self, f"do_{action}", None)
            if does is None:
                raise ValueError("unsupported action")
            return {"result": does(**params), "error": None}
        except BrokenPipeError:
            raise
        except Exception as problem:  # noqa: BLE001 (the add-on does so)
            return {"result": None, "error": str(problem)}

    def _writes(self) -> None:
        if self.break_after is not None:
            if self.break_after == 0:
                raise BrokenPipeError
            self.break_after -= 1

    def do_requestPermission(self) -> dict[str, Any]:
        if self.permission != "granted":
            return {"permission": self.permission}
        return {"permission": "granted", "requireApikey": bool(self.key), "version": self.version}

    def do_version(self) -> int:
        return self.version

    def do_multi(self, actions: list[Any]) -> list[Any]:
        return [self.answer(one) for one in actions]

    def do_findNotes(self, query: str) -> list[int]:
        return list(self.col.find_notes(query))

    def do_notesInfo(self, notes: list[int]) -> list[dict[str, Any]]:
        return [self._told(id_) for id_ in notes]

    def _told(self, id_: int) -> dict[str, Any]:
        note = self.col.get_note(id_)
        fields = {name: {"value": value, "order": n} for n, (name, value) in enumerate(note.items())}
        cards = [card.id for card in note.cards()]
        model = note.note_type()["name"]
        return {"noteId": id_, "tags": note.tags, "fields": fields, "modelName": model, "cards": cards}

    def do_getReviewsOfCards(self, cards: list[int]) -> dict[str, list[dict[str, int]]]:
        names = ["id", "usn", "ease", "ivl", "lastIvl", "factor", "time", "type"]
        query = f"select {', '.join(names)} from revlog where cid = ?"
        return {str(c): [dict(zip(names, row, strict=True)) for row in self.col.db.all(query, c)] for c in cards}

    def do_modelNames(self) -> list[str]:
        return [model.name for model in self.col.models.all_names_and_ids()]

    def do_modelFieldNames(self, modelName: str) -> list[str]:
        model = self.col.models.by_name(modelName)
        if model is None:
            raise ValueError(f"model was not found: {modelName}")
        return [fld["name"] for fld in model["flds"]]

    def do_createModel(
        self,
        modelName: str,
        inOrderFields: list[str],
        cardTemplates: list[dict[str, str]],
        css: str,
        isCloze: bool = False,
    ) -> dict[str, Any]:
        self._writes()
        models = self.col.models
        if models.by_name(modelName) is not None:
            raise ValueError("Model name already exists")
        made = models.new(modelName)
        made["css"], made["type"] = css, int(isCloze)
        for name in inOrderFields:
            models.add_field(made, models.new_field(name))
        for template in cardTemplates:
            one = models.new_template(template["Name"])
            one["qfmt"], one["afmt"] = template["Front"], template["Back"]
            models.add_template(made, one)
        models.add(made)
        return {"name": modelName}

    def do_createDeck(self, deck: str) -> int:
        return int(self.col.decks.id(deck))

    def do_addNote(self, note: dict[str, Any]) -> int:
        self._writes()
        model = self.col.models.by_name(note["modelName"])
        deck = self.col.decks.by_name(note["deckName"])
        if model is None or deck is None:
            raise ValueError("model or deck was not found")
        made = self.col.new_note(model)
        for name, value in note["fields"].items():
            if name in made:
                made[name] = value
        made.tags = note.get("tags", [])
        state = int(made.fields_check())
        if state == 1:
            raise ValueError("cannot create note because it is empty")
        if state == 2 and not note.get("options", {}).get("allowDuplicate"):
            raise ValueError("cannot create note because it is a duplicate")
        self.col.add_note(made, deck["id"])
        return int(made.id)

    def do_updateNoteFields(self, note: dict[str, Any]) -> None:
        self._writes()
        there = self.col.get_note(note["id"])
        for name, value in note["fields"].items():
            if name in there:
                there[name] = value
        self.col.update_note(there)

    def do_importPackage(self, path: str) -> bool:
        from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

        self._writes()
        if not self.imports:
            raise ValueError("No module named 'anki.importing'")
        options = ImportAnkiPackageOptions(merge_notetypes=False, with_scheduling=False)
        self.col.import_anki_package(ImportAnkiPackageRequest(package_path=path, options=options))
        return True

    def do_addTags(self, notes: list[int], tags: str) -> None:
        self.col.tags.bulk_add(notes, tags)

    def do_removeTags(self, notes: list[int], tags: str) -> None:
        self.col.tags.bulk_remove(notes, tags)

    def do_suspend(self, cards: list[int]) -> bool:
        self.col.sched.suspend_cards(cards)
        return True

    def do_unsuspend(self, cards: list[int]) -> bool:
        self.col.sched.unsuspend_cards(cards)
        return True

    def do_cardsInfo(self, cards: list[int]) -> list[dict[str, int]]:
        found = [
            self.col.get_card(card) if self.col.db.scalar("select 1 from cards where id = ?", card) else None
            for card in cards
        ]
        return [
            {"cardId": card.id, "note": card.nid, "ord": card.ord, "queue": card.queue, "due": card.due} if card else {}
            for card in found
        ]

    def do_findCards(self, query: str) -> list[int]:
        return list(self.col.find_cards(query))

    def do_insertReviews(self, reviews: list[list[int]]) -> None:
        self._writes()
        rows = ",".join(f"({','.join(map(str, row))})" for row in reviews)
        columns = "id, cid, usn, ease, ivl, lastIvl, factor, time, type"
        self.col.db.execute(f"insert into revlog({columns}) values {rows}")

    def do_setSpecificValueOfCard(
        self, card: int, keys: list[str], newValues: list[Any], warning_check: bool = False
    ) -> list[bool]:
        self._writes()
        changed = self.col.get_card(card)
        for key, value in zip(keys, newValues, strict=True):
            setattr(changed, key, value)
        self.col.update_card(changed)
        return [True]

    def do_areSuspended(self, cards: list[int]) -> list[bool]:
        return [self.col.get_card(id_).queue == -1 for id_ in cards]

    def do_cardsModTime(self, cards: list[int]) -> list[dict[str, int]]:
        return [{"cardId": id_, "mod": self.col.get_card(id_).mod} for id_ in cards]

    def do_getMediaFilesNames(self, pattern: str = "*") -> list[str]:
        return [path.name for path in Path(self.col.media.dir()).glob(pattern)]

    def do_storeMediaFile(self, filename: str, data: str) -> str:
        self._writes()
        return str(self.col.media.write_data(filename, base64.b64decode(data)))


@contextmanager
def serving(server: ConnectServer) -> Iterator[ConnectServer]:
    """`server` while it listens on a free port of the loopback address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                body = json.dumps(server.answer(request)).encode() if server.raw is None else server.raw
            except BrokenPipeError:
                self.close_connection = True
                return
            self.send_response(server.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if server.status in (301, 302, 307):
                self.send_header("Location", server.url)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.port = listening.server_address[1]
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
