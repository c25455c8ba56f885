"""What agents are shown: orders, receipts and the state of the work, as a few lines of text or as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.environment import here
from cli.options import option_for
from compiler.orders.board import OrderDesk
from compiler.orders.files import answer_path, order_text, text_path, write_order
from compiler.orders.submit import Receipt
from compiler.orders.take import Work
from compiler.protocol.requests import Request
from vault.text.formatting import plural, short_line

MOST_FAULTS = 60  # that are shown of one answer
_HOW_TO_SUBMIT = (
    "Write your answer into {answer} and submit it: {submit}\n"
    "Valid lines are stored; each invalid one is printed with its number: correct it there and submit the file again."
)


@dataclass(frozen=True, slots=True)
class OrderFile:
    """An order that was handed out: its text is at `text`, its answer is to be at `answer`."""

    id: str
    type: str
    title: str
    bytes: int
    text: str
    answer: str
    submit: str

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def lines(self) -> list[str]:
        return [
            f"{self.id} ({self.bytes:,} bytes): {self.title}",
            f"  read    {self.text}",
            f"  answer  {self.answer}",
            f"  then    {self.submit}",
        ]


def handed_out(desk: OrderDesk, request: Request, name: str) -> OrderFile:
    """Write the file of an order and return where it is, by paths that work from the current directory."""
    root, away = desk.vault.root, here() != desk.vault.root
    text, answer = (str(root / path) if away else path for path in (text_path(request.id), answer_path(request.id)))
    words = ["retain", "agent", "submit", answer, *(["--as", name] if name != "agent" else [])]
    submit = shlex.join([*words, *option_for(root)])
    size = write_order(desk.vault, request, order_text(request, _HOW_TO_SUBMIT.format(answer=answer, submit=submit)))
    return OrderFile(request.id, request.type, short_line(request.title, 100), size, text, answer, submit)


def text_for_tools(request: Request) -> str:
    """Return the text of an order for an agent that submits by the tool `submit`."""
    return order_text(request, f"Submit your answer with the tool `submit`, as the answer to the order {request.id}.")


def work_lines(work: Work) -> list[str]:
    """Return what is open and what comes next."""
    counts = ", ".join(f"{count} {of}" for of, count in work.open.items())
    return [*([f"open: {counts}; {work.free} free"] if counts else []), f"next: {work.next}"]


def receipt_lines(receipt: Receipt, file: str = "") -> list[str]:
    """Return what became of an answer, and what to correct."""
    if receipt.state == "unknown":
        return [f"no such work order: {short_line(receipt.id, 80)!r}: use an id that `retain agent next` printed"]
    words = receipt.kept if receipt.state == "accepted" else "nothing in the answer can be used"
    out = [f"{receipt.state} {receipt.id}: {words}"]
    out += [f"  {fault}" for fault in receipt.faults[:MOST_FAULTS]]
    if len(receipt.faults) > MOST_FAULTS:
        out.append(f"  and {len(receipt.faults) - MOST_FAULTS} more")
    if receipt.faults:
        where = f" in {file}" if file else ""
        rest = ", or continue" if receipt.state == "accepted" else ""
        out.append(f"correct these lines{where} and submit the whole answer again{rest}")
    return out


def status_lines(work: Work, agents: Mapping[str, tuple[int, str]], replies: int) -> list[str]:
    """Return what is open, who has what, and what comes next."""
    held = [
        f"{name} has reserved {plural(count, 'work order')} until {until}" for name, (count, until) in agents.items()
    ]
    mine = [f"yours: {', '.join(work.yours)}"] if work.yours else []
    return [f"{plural(replies, 'answer')} stored", *held, *mine, *work_lines(work)]


def orders_as_json(orders: Sequence[OrderFile], work: Work) -> dict[str, Any]:
    """Return orders and what is open besides as JSON."""
    return {"orders": [order.as_json() for order in orders], **work.as_json()}
