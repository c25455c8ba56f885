"""The command `stats`: retention, forecast, study time and weak concepts."""

from __future__ import annotations

import click

from cli import output
from cli.environment import now
from cli.options import opened_to_write, vault_json_options
from cli.review.stats_json import as_object
from cli.review.stats_report import page
from cli.workspace import deck_listing, report_cards
from learning.cards.workspace import open_desk
from learning.stats.activity import YEAR
from learning.stats.material import material_of, narrowed
from learning.stats.stats import Material, Stats, stats_of
from learning.stats.stored import StoredStats
from learning.store.freshness import look
from learning.store.topics import topic_named
from vault.errors import NotFound


@click.command()
@click.option(
    "--days",
    default=YEAR,
    show_default=True,
    type=click.IntRange(1, 36_500),
    help="The number of days for predictions and study time.",
)
@click.option("--topic", default="", help="Only concepts in this topic (its title, or the start of it).")
@click.option("--tag", default="", help="Only cards with this tag.")
@vault_json_options
def stats(days: int, topic: str, tag: str, vault_dir: str | None, as_json: bool) -> int:
    """Show retention, the forecast, weak concepts and this week's changes.

    \b
    Examples:
      retain stats
      retain stats --topic "spacing"
      retain stats --tag exam --days 90
      retain stats --json
    """
    found = _figures(vault_dir, days, topic, tag)
    if as_json:
        output.show_json(as_object(found))
        return output.DONE

    output.show(page(found))
    if not found.phases.total and not found.activity.reviews:
        output.say("no cards yet: `retain add FILES`, then `retain compile`")
    return output.DONE


def _figures(vault_dir: str | None, days: int, topic: str, tag: str) -> Stats:
    vault = opened_to_write(vault_dir, dry_run=True)
    decks = deck_listing(vault)
    seen = look(vault.root, decks=decks)
    desk = open_desk(vault, now(), listing=decks, queued=False)
    report_cards(desk)
    if not topic and not tag:
        stored = StoredStats(desk, seen, days=days)
        return stored.get() or stored.put(stats_of(material_of(desk), desk.scheduler, desk.now, days=days))
    material = _filtered(material_of(desk), topic, tag)
    return stats_of(material, desk.scheduler, desk.now, days=days)


def _filtered(material: Material, topic: str, tag: str) -> Material:
    """Return the figures for a topic or tag alone. Raises NotFound if no card has it."""
    stems = topic_named(topic, material.topics)[1] if topic else None
    mine = narrowed(material, stems, tag)
    if not mine.cards:
        where = " and ".join([f"topic {topic}"] * bool(topic) + [f"tag {tag}"] * bool(tag))
        raise NotFound("no matching cards", where=where, hint="`retain stats` lists topics and tags")
    return mine
