"""The commands of retain: the module that holds each, and its help in one line."""

from __future__ import annotations

# command -> (where it is, its one line of help): listing them must not load them.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("cli.commands.init:init", "Make a new vault, or lay one over an existing folder of notes."),
    "add": ("cli.commands.add:add", "Copy files, folders or a page from the web into raw/."),
    "compile": ("cli.commands.compile:compile_", "Bring wiki, cards and gaps up to date with raw/."),
    "review": ("cli.study.review:review", "Start today's reviews."),
    "due": ("cli.study.review:due", "List the cards that are due, and the new ones."),
    "rate": ("cli.study.review:rate", "Record one review of a card."),
    "undo": ("cli.study.review:undo", "Take back the last thing you did to a card."),
    "card": ("cli.study.card:card", "Cards: show, edit, list, suspend, resume, bury, flag, tag, reschedule."),
    "optimize": (
        "cli.study.optimize:optimize",
        "Fit the scheduler to your own reviews, if that foretells them better.",
    ),
    "simulate": ("cli.study.simulate:simulate", "What a retention, or more new cards, would cost you a day."),
    "quiz": ("cli.study.quiz:quiz", "Be asked about a topic by a language model, if you have named one."),
    "gaps": ("cli.commands.gaps:gaps", "The reading agenda: list, plan, resolve, ignore."),
    "inbox": ("cli.commands.inbox:inbox", "What waits for your word: list, show, accept, keep, reject, undo."),
    "concept": ("cli.commands.concept:concept", "Concepts: rename, merge, split, alias, list, show, deeds, undo."),
    "stats": ("cli.study.stats:stats", "How well you remember, what is coming, what is weak."),
    "ask": ("cli.commands.ask:ask", "Answer a question from the wiki, with the words it rests on."),
    "search": ("cli.commands.search:search", "Find cards and articles by their words, and by what you remember."),
    "status": ("cli.commands.init:status", "What the vault holds."),
    "verify": ("cli.commands.verify:verify", "Check every quote, citation and card against the sources."),
    "trace": ("cli.commands.verify:trace", "Follow a card, sentence or claim back to its source."),
    "log": ("cli.commands.log:log", "The chronicle of builds; what was refused, what yielded nothing."),
    "insight": ("cli.commands.insight:insight", "Write a note of your own, in the folder that no agent touches."),
    "guard": ("cli.guard.group:guard", "Cage agents; see and restore what changed behind your back."),
    "agent": ("cli.agent.commands:agent", "Work orders for a coding agent: next, show, submit, status, release."),
    "mcp": ("cli.agent.mcp_server:mcp", "Serve the vault to a coding agent over MCP, on stdin and stdout."),
    "doctor": ("cli.commands.doctor:doctor", "Show what protects this vault here, and find what looks wrong."),
    "upgrade": ("cli.commands.upgrade:upgrade", "Bring AGENTS.md and the schema version of an older vault up to date."),
    "export": ("cli.study.export:export", "Write the cards for other programs."),
    "import": ("cli.study.import_:import_", "Bring cards and reviews home from Anki."),
    "sync": ("cli.study.sync:sync", "Bring cards and reviews together with a running Anki."),
    "rebuild": ("cli.commands.compile:rebuild", "Make every product anew from raw/, ledgers and log."),
}
