"""`retain mcp` spoken to by the SDK's own client over stdin and stdout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from cli.agent.actions import TOOLS, AgentActions
from cli.agent.mcp_server import mcp_server
from compiler.orders.board import OrderDesk
from tests.cli.rule_agent import answer_to
from tests.commands import SCRIPT, retain
from tests.sandbox.den import need
from vault.sandbox import landlock
from vault.sandbox.capabilities import Level
from vault.vault import open_vault

FORGETTING = """# Forgetting

Most of what is learned is lost. Decay is a loss of memory with time. It is hard to test as time is never empty.
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    assert retain("init", str(root), "--no-git", cwd=tmp_path).code == 0
    (root / "raw/forgetting.md").write_text(FORGETTING, encoding="utf-8")
    return root


@asynccontextmanager
async def spoken(vault: Path) -> AsyncIterator[ClientSession]:
    plain = {k: v for k, v in os.environ.items() if not k.startswith("SCRIPT")}
    server = StdioServerParameters(command=SCRIPT, args=["--vault", str(vault), "mcp"], env=plain)
    async with stdio_client(server) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
        await session.initialize()
        yield session


async def call(session: ClientSession, tool: str, **arguments: Any) -> tuple[bool, str]:
    result = await session.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    return not result.is_error, content.text


def answered(order: str) -> dict[str, str]:
    """The arguments that hand in what the rules answer to the text of an order."""
    match = re.search(r"as the answer to the order (([a-z]+)-[0-9a-f]{12})\.", order)
    assert match is not None, order
    return {"order": match[1], "answer": answer_to(match[2], order)}


async def test_a_client_compiles_a_vault_by_the_tools_alone(vault: Path) -> None:
    async with spoken(vault) as session:
        assert {tool.name for tool in (await session.list_tools()).tools} == set(TOOLS)
        _, order = await call(session, "next_order", name="client")
        _, told = await call(session, "submit", order=answered(order)["order"], answer="Here it is.", name="client")
        assert told.startswith("refused") and "CONCEPT" in told
        while "no work orders are open" not in order:
            good, told = await call(session, "submit", **answered(order), name="client")
            assert good and told.startswith("accepted"), told
            _, order = await call(session, "next_order", name="client")
        assert "compile --engine agent" in (await call(session, "status"))[1]
    assert retain("compile", "--engine", "agent", cwd=vault).code == 0
    assert retain("verify", cwd=vault).code == 0
    async with spoken(vault) as session:
        good, found = await call(session, "search", words="decay", limit=3)
        assert good and json.loads(found)["articles"][0]["title"] == "Decay" and json.loads(found)["cards"]
        pages = [str(page.uri) for page in (await session.list_resources()).resources]
        assert pages[0] == "retain://vault/AGENTS.md" and any("wiki/concepts/" in page for page in pages)
        (content,) = (await session.read_resource(pages[-1])).contents
        assert "[!quote]" in content.text  # type: ignore[union-attr]
        _, order = await call(session, "ask", question="What is decay?", name="client")
        assert answered(order)["order"] in (await call(session, "status", name="client"))[1]
        good, told = await call(session, "submit", **answered(order), name="client")
        assert good and told.startswith("accepted")
        _, found = await call(session, "ask", question="What is decay?")
        assert "Decay is a loss of memory" in found and "[1]" in found and "raw/forgetting.md" in found


async def test_faults_of_the_wiki_are_listed_by_rule_and_nothing_changes(vault: Path) -> None:
    assert retain("compile", cwd=vault).code == 0
    (vault / "insights").mkdir(exist_ok=True)
    (vault / "insights/mine.md").write_text("[[wiki/concepts/gone]] and [[wiki/concepts/lost]]\n")

    def files() -> dict[Path, bytes]:
        return {p: p.read_bytes() for p in vault.rglob("*") if p.is_file() and ".retain" not in p.parts}

    before = files()
    async with spoken(vault) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert {"search", "ask", "lint"} <= set(tools) and tools["lint"].annotations.read_only_hint  # type: ignore[union-attr]
        good, text = await call(session, "lint", rule="broken-link", limit=1)
        found = json.loads(text)
        assert good and found["count"] == 2 and len(found["findings"]) == 1
        assert found["findings"][0]["path"] == "insights/mine.md" and "gone" in text
        _, text = await call(session, "lint")
        assert json.loads(text)["count"] >= 2
    assert files() == before


async def test_an_order_is_given_back_by_whoever_has_it(vault: Path) -> None:
    async with spoken(vault) as session:
        _, order = await call(session, "next_order", name="one")
        id_ = answered(order)["order"]
        assert "none" in (await call(session, "release", orders=[id_], name="two"))[1]
        assert id_ in (await call(session, "release", orders=[id_], name="one"))[1]


HOSTILE: list[tuple[str, Any]] = [
    ("next_order", {"type": "rate"}),
    ("next_order", {"name": "../../x\x1b[2J"}),
    ("next_order", {"name": 7}),
    ("next_order", {"vault": "/etc"}),
    ("next_order", {"count": 3}),
    ("submit", {}),
    ("submit", {"order": "read-000000000000"}),
    ("submit", {"order": "read-000000000000", "answer": {"concepts": []}}),
    ("submit", {"order": "read-000000000000", "answer": "x" * (5 << 20)}),
    ("submit", {"order": "x" * 10_000, "answer": "OK"}),
    ("release", {"orders": []}),
    ("release", {"orders": ["../../../etc/passwd"]}),
    ("search", {"words": ""}),
    ("search", {"words": "x" * 501}),
    ("search", {"words": "x", "limit": 0}),
    ("ask", {"question": " "}),
    ("ask", {"question": None}),
    ("lint", {"rule": "no-such\x1b[2J"}),
    ("lint", {"fix": True}),
    ("lint", {"limit": 0}),
    ("rate", {"card": "k7q2m9xd3f"}),
    ("compile", {}),
    ("__import__", {}),
]


@pytest.mark.parametrize(("tool", "arguments"), HOSTILE)
async def test_hostile_arguments_are_answered_with_an_error(vault: Path, tool: str, arguments: Any) -> None:
    server = mcp_server(AgentActions(OrderDesk(open_vault(str(vault), None, vault))))
    async with Client(server) as client:
        result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text" and result.is_error and content.text
    assert "\x1b" not in content.text


async def test_an_order_that_nobody_gave_out_is_not_taken(vault: Path) -> None:
    server = mcp_server(AgentActions(OrderDesk(open_vault(str(vault), None, vault))))
    async with Client(server) as client:
        for order in ("read-000000000000", "../../../etc/passwd", "\x1b[2J"):
            (content,) = (await client.call_tool("submit", {"order": order, "answer": "OK"})).content
            assert content.type == "text" and "no such work order" in content.text and "\x1b" not in content.text


async def test_pages_outside_of_the_wiki_cannot_be_read_and_the_server_lives_on(vault: Path) -> None:
    (vault / "insights").mkdir(exist_ok=True)
    (vault / "insights/mine.md").write_text("private")
    (vault / "wiki/concepts/link.md").symlink_to("/etc/passwd")
    paths = ("../../etc/passwd", "retain.toml", "insights/mine.md", "learning/reviews.jsonl", "wiki/concepts/link.md")
    async with spoken(vault) as session:
        for path in paths:
            with pytest.raises(MCPError, match="no such page"):
                await session.read_resource(f"retain://vault/{path}")
            assert (await call(session, "status"))[0]


def test_what_is_no_message_is_answered_and_nothing_but_the_protocol_stands_on_stdout(vault: Path) -> None:
    lines = 'not json\n{"jsonrpc": "2.0"}\n[]\n' + json.dumps({"jsonrpc": "2.0", "id": 1, "method": "no/such"}) + "\n"
    done = retain("mcp", cwd=vault, stdin=lines)
    assert done.code == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in done.stdout.splitlines())


_TRY = """
import sys
from pathlib import Path
from cli.agent.mcp_server import _restrict
from compiler.orders.board import OrderDesk
from vault.vault import open_vault
root = Path(sys.argv[1])
_restrict(OrderDesk(open_vault(str(root), None, root)))
for path in ("wiki/x.md", "learning/reviews.jsonl", "ledger/ids.jsonl", "raw/x.md", "insights/x.md", "../outside.md"):
    try:
        (root / path).write_text("x")
    except PermissionError:
        continue
    sys.exit(f"written: {path}")
(root / "ledger/replies/x.txt").write_text("x")
(root / ".retain/x.txt").write_text("x")
import socket
try:
    socket.create_connection(("127.0.0.1", 9), timeout=5)
except PermissionError:
    sys.exit(0)
except OSError as error:
    sys.exit(f"the network was reached: {error}" if int(sys.argv[2]) >= 4 else 0)
"""


def test_the_server_is_restrict_to_the_journal_and_its_caches(vault: Path) -> None:
    need(Level.LANDLOCK)
    done = subprocess.run(
        [sys.executable, "-c", _TRY, str(vault), str(landlock.abi())], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr


def test_the_hook_of_a_host_lets_every_tool_of_the_server_through(vault: Path) -> None:
    from cli.agent_commands import MCP_TOOLS
    from cli.guard.ownership import territory_of
    from cli.hosts.tool_call import call_fault

    assert {f"mcp__retain__{name}" for name in TOOLS} == MCP_TOOLS
    territory = territory_of(open_vault(str(vault), None, vault))
    call = {"tool_input": {"source": "raw/forgetting.md"}, "cwd": str(vault)}
    assert call_fault(call | {"tool_name": "mcp__retain__next_order"}, territory) is None
    assert call_fault(call | {"tool_name": "mcp__other__next_order"}, territory)


def test_without_the_package_the_error_names_the_command_that_installs_it(
    vault: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import importlib.util

    from cli.main import run

    monkeypatch.chdir(vault)
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "mcp" else there(name, *more))
    assert run(["mcp"]) == 2
    assert "pip install '.[agents]'" in capsys.readouterr().err
