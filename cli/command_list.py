"""The commands of retain: the module that holds each, and its help in one line."""

from __future__ import annotations

# command -> (where it is, its one line of help): listing them must not load them.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("cli.commands.init:init", "Create a vault, or add one to an existing notes folder."),
    "add": ("cli.commands.add:add", "Copy files, folders or a web page into raw/."),
    "compile": ("cli.commands.compile:compile_", "Update wiki, cards and gaps from raw/."),
    "review": ("cli.study.review:review", "Start today's reviews."),
    "due": ("cli.study.review:due", "List due and new cards."),
    "rate": ("cli.study.review:rate", "Record one review of a card."),
    "undo": ("cli.study.review:undo", "Undo the last action on a card."),
    "card": ("cli.study.card:card", "Show, edit, list, suspend, resume, bury, flag, tag or reschedule cards."),
    "optimize": ("cli.study.optimize:optimize", "Optimize FSRS parameters on your review history."),
    "simulate": (
        "cli.study.simulate:simulate",
        "Forecast the workload for a retention or number of new cards.",
    ),
    "quiz": ("cli.study.quiz:quiz", "Answer a language model's questions about a topic."),
    "gaps": ("cli.commands.gaps:gaps", "List, plan, resolve, ignore or reopen gaps."),
    "inbox": ("cli.commands.inbox:inbox", "Decide about proposed changes: list, show, accept, keep, reject, undo."),
    "concept": ("cli.commands.concept:concept", "Rename, merge, split, alias, list or show concepts."),
    "stats": ("cli.study.stats:stats", "Show retention, the forecast and weak concepts."),
    "ask": ("cli.commands.ask:ask", "Answer a question from the wiki, with citations."),
    "search": ("cli.commands.search:search", "Find cards and articles by words and by memory state."),
    "status": ("cli.commands.init:status", "Show what the vault contains."),
    "verify": ("cli.commands.verify:verify", "Check every quote, citation and card against the sources."),
    "trace": ("cli.commands.verify:trace", "Trace a card, sentence or claim back to its source."),
    "log": ("cli.commands.log:log", "List builds, rejected claims and source coverage."),
    "insight": ("cli.commands.insight:insight", "Write a note of your own, where no agent writes."),
    "guard": ("cli.guard.group:guard", "Run agents in a sandbox; audit and restore your files."),
    "agent": ("cli.agent.commands:agent", "Work orders for a coding agent: next, show, submit, status, release."),
    "mcp": ("cli.agent.mcp_server:mcp", "Serve the vault to a coding agent over MCP, on stdin and stdout."),
    "doctor": ("cli.commands.doctor:doctor", "Show what protects this vault, and check it for problems."),
    "export": ("cli.study.export:export", "Export cards to other programs."),
    "import": ("cli.study.import_:import_", "Import cards and reviews from Anki."),
    "sync": ("cli.study.sync:sync", "Sync cards and reviews with a running Anki."),
    "rebuild": ("cli.commands.compile:rebuild", "Rebuild all generated files from scratch."),
}
