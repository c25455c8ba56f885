"""The article reader: pages of the wiki, their citations and links."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from learning.pages.article import INDEX, LARGEST, ArticlePage, PageContext, link_path, page_context, read_page
from learning.review.plan import Plan
from tui.context import Context
from tui.external import run_in_terminal, show_result
from tui.keys import ARTICLE, Key
from tui.models import article_sidebar
from tui.screen import Page
from tui.strings import article as strings
from tui.text import content
from tui.text.images import Thumbnail, cells, checked_picture, open_in_viewer, page_pictures, shows_pictures
from tui.text.kitty import Gallery, has_graphics
from tui.text.markdown import Target
from tui.views.article import ArticleView
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.notice import Notice
from vault.errors import RetainError, UsageError
from vault.evidence.context import quote_context
from vault.evidence.evidence import EvidenceReader
from vault.model.wikilink import citations
from vault.text.urls import normalize_address

_AROUND = 2  # lines of a source that are shown before a quote and after it
_CLAIM = re.compile(r"wiki/summaries/[^#]+#\^c-[0-9a-z]{10}")


@dataclass(frozen=True, slots=True)
class Visit:
    """A page that was open: its path, its first visible row, and its selected link."""

    path: str
    row: int | str = 0
    link: int = -1


class ArticleScreen(Page, key="article"):
    @dataclass
    class Opened(Message):
        """A page has been read; `asked` numbers the requests, so that an older one is ignored."""

        page: ArticlePage
        visit: Visit
        asked: int
        pictures: Mapping[str, Thumbnail]

    @dataclass
    class Stood(Message):
        """The sidebar data of the page at `path` is ready."""

        path: str
        stands: PageContext

    @dataclass
    class Quoted(Message):
        """The quote of a citation, as Markdown."""

        to: str
        markdown: str

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._page: ArticlePage | None = None
        self._stands: PageContext | None = None
        self._before: list[Visit] = []  # the pages that `[` goes back to, the last one last
        self._after: list[Visit] = []
        self._asked = 0
        self._quote = ""  # the citation whose words stand beside the page
        self._address = ""  # what the next press opens in the browser
        self._found = ("", -1)  # the words looked for, and the row where they were
        self._gallery: Gallery | None = None  # where the terminal shows pictures of itself

    def compose(self) -> ComposeResult:
        yield TopBar(strings.TITLE)
        with Horizontal(id="article"):
            with Vertical(id="article-main"):
                yield Static(markup=False, id="article-head")
                yield ArticleView(id="article-text")
            yield ArticleView(id="article-aside")
        yield Input(id="article-find", compact=True)
        yield Notice()
        yield KeyBar(ARTICLE)

    def on_mount(self) -> None:
        self.query_one(TopBar).show_status(strings.READING)
        if has_graphics(self.context.environment):
            self._gallery = Gallery(self._write)
            self.app.app_resume_signal.subscribe(self, lambda _: self._send_again())
        self._text.focus()
        path, _, anchor = (self.about or INDEX).partition("#")
        self._visit(Visit(link_path(self.context.vault, path) or path, anchor))

    @property
    def _text(self) -> ArticleView:
        return self.query_one("#article-text", ArticleView)

    @property
    def _aside(self) -> ArticleView:
        return self.query_one("#article-aside", ArticleView)

    # --- from page to page ------------------------------------------------------------------------------------------

    def _visit(self, visit: Visit) -> None:
        self._asked += 1
        asked, today = self._asked, self.context.clock().astimezone(self.context.vault.settings.zone).date()

        def read() -> None:
            with self.posting_errors():
                page = read_page(self.context.vault, visit.path, today)
                self.post_message(self.Opened(page, visit, asked, self._pictures(page)))

        self.run_worker(read, thread=True)

    def _pictures(self, page: ArticlePage) -> Mapping[str, Thumbnail]:
        wanted = self.context.preferences.pictures != "never" and shows_pictures(self.context.environment)
        if "![[" not in page.body or not wanted:
            return {}
        return page_pictures(self.context.vault, page.body, fine=self._gallery is not None)

    def _write(self, words: str) -> None:
        """Write escape sequences to the terminal, through Textual's driver."""
        driver = self.app._driver
        if driver is not None:
            with suppress(AssertionError):  # another program has the terminal now, and all is sent again after it
                driver.write(words)

    def _send_again(self) -> None:
        if self._gallery is not None:
            self._gallery.send_again()

    def on_unmount(self) -> None:
        if self._gallery is not None and self.app.is_running and self.app.return_value is None:
            self._gallery.close()  # a terminal that is left forgets them by itself

    def on_page_failed(self, message: Page.Failed) -> None:
        self.query_one(TopBar).show_status(self._page.path if self._page else "")

    def on_article_screen_opened(self, message: Opened) -> None:
        if message.asked != self._asked:
            return
        page, visit = message.page, message.visit
        self._page, self._stands, self._quote, self._address = page, None, "", ""
        self.query_one(Notice).clear()
        self.query_one(TopBar).show_status(page.path)
        self.query_one("#article-head", Static).update(content.line(strings.head(page), content.DIM))
        body = page.body.lstrip("\n")
        cut = body if len(body) <= LARGEST else f"{body[:LARGEST]}\n\n{strings.CUT}"
        found, gallery = message.pictures, self._gallery

        def shown(path: str, width: int) -> list[Content]:
            if path not in found:
                return []
            return gallery.shown(found[path], width) if gallery is not None else cells(found[path], width)

        self._text.show(cut, visit.row, visit.link, shown)
        self._aside.show("")
        self.remove_class("-beside")
        self.run_worker(lambda: self._stand(page), thread=True)

    def _stand(self, page: ArticlePage) -> None:
        with self.posting_errors():
            self.post_message(self.Stood(page.path, page_context(self.context.vault, page, self.context.clock())))

    def on_article_screen_stood(self, message: Stood) -> None:
        if self._page is not None and message.path == self._page.path:
            self._stands = message.stands
            if message.stands.suggested:
                lines = (strings.head(self._page), strings.suggested(message.stands.suggested))
                head = Content("\n").join([content.line(line, content.DIM) for line in lines])
                self.query_one("#article-head", Static).update(head)
            if not self._quote:
                self._aside.show(article_sidebar.sidebar(message.stands))

    def _here(self) -> Visit | None:
        return None if self._page is None else Visit(self._page.path, self._text.top, self._text.at)

    def _leave_for(self, visit: Visit) -> None:
        here = self._here()
        if here is not None:
            self._before.append(here)
        self._after.clear()
        self._visit(visit)

    def action_before(self) -> None:
        """Go to the previous page."""
        self._turn(self._before, self._after, strings.NO_WAY_BACK)

    def action_after(self) -> None:
        self._turn(self._after, self._before, strings.NO_WAY_ON)

    def _turn(self, pages: list[Visit], others: list[Visit], none: str) -> None:
        here = self._here()
        if not pages or here is None:
            self.query_one(Notice).show_message(none)
            return
        others.append(here)
        self._visit(pages.pop())

    def action_index(self) -> None:
        self._leave_for(Visit(INDEX))

    # --- links ------------------------------------------------------------------------------------------------------

    def action_link(self, step: int) -> None:
        """Select the next or previous link, also those in the sidebar."""
        self._address = ""
        views = [self._text, *([self._aside] if self._aside.display else [])]
        now = next((n for n, view in enumerate(views) if view.at >= 0), 0)
        for turn in range(len(views) + 1):
            view = views[(now + turn * step) % len(views)]
            if turn:
                views[now].leave()
                view.leave()
            if view.move(step):
                return
        self.query_one(Notice).show_message(strings.NO_LINKS)

    def action_follow(self) -> None:
        target = self._text.chosen or (self._aside.chosen if self._aside.display else None)
        if target is None:
            self.action_link(1)
        else:
            self._follow(target)

    def on_article_view_followed(self, message: ArticleView.Followed) -> None:
        for view in (self._text, self._aside):
            if message.target is not view.chosen:
                view.leave()
        self._follow(message.target)

    def _follow(self, target: Target) -> None:
        if target.kind == "claim" and target.to != self._quote and _CLAIM.fullmatch(target.to):
            self._cite(target.to)
        elif target.kind in ("note", "claim"):
            self._open(target)
        elif target.kind == "web":
            self._browse(target.to)
        else:
            self._show_picture(target.to)

    def _open(self, target: Target) -> None:
        here = self._page.path if self._page else ""
        path = link_path(self.context.vault, target.to, here)
        if path:
            self._leave_for(Visit(path, target.to.partition("#")[2]))
        else:
            self.query_one(Notice).show_message(strings.no_page(target.words))

    def _browse(self, address: str) -> None:
        """Show the address; pressed again, open it in the browser. Only http and https."""
        try:
            shown = normalize_address(address)
        except UsageError:
            self.query_one(Notice).show_message(strings.no_address(address))
            return
        if self._address == shown:
            self._address = ""
            self.query_one(Notice).clear()
            self.app.open_url(shown)
        else:
            self._address = shown
            self.query_one(Notice).show_message(strings.opens(shown))

    def _show_picture(self, path: str) -> None:
        """Show the picture's path; pressed again, open it in the desktop's viewer."""
        vault, notice = self.context.vault, self.query_one(Notice)
        try:
            if self._address == checked_picture(vault, path):
                self._address = ""
                open_in_viewer(vault, path, self.context.environment)
                notice.clear()
            else:
                self._address = path
                notice.show_message(strings.opens_picture(path))
        except RetainError as error:
            self._address = ""
            self.show_error(error)

    # --- what it rests on -------------------------------------------------------------------------------------------

    def _cite(self, to: str) -> None:
        def read() -> None:
            vault = self.context.vault
            evidence = EvidenceReader(vault).of(citations(f"[[{to}|1]]"))[0]
            with self.posting_errors():
                place = quote_context(vault, evidence, _AROUND)
                self.post_message(self.Quoted(to, article_sidebar.quote(evidence, place, to)))

        self.run_worker(read, thread=True)

    def on_article_screen_quoted(self, message: Quoted) -> None:
        self._quote = message.to
        self.add_class("-beside")
        self._aside.show(message.markdown)

    def action_aside(self) -> None:
        """Show or hide the sidebar with mastery, gaps and backlinks."""
        stands_there = self._aside.display and not self._quote
        self._quote = ""
        self._aside.show(article_sidebar.sidebar(self._stands) if self._stands else "")
        self.set_class(not stands_there, "-beside")

    # --- insights and reviews -----------------------------------------------------------------------------------------

    def action_insight(self) -> None:
        """Let the user write an insight in their editor, by `retain insight`."""
        page = self._page
        if page is None or not page.is_concept:
            self.query_one(Notice).show_message(strings.NO_INSIGHT)
            return
        show_result(self, run_in_terminal(self.app, self.context, "insight", page.stem))

    def action_review(self) -> None:
        """Review the due and new cards of this concept."""
        page = self._page
        if page is None or not page.is_concept:
            self.query_one(Notice).show_message(strings.NO_CARDS)
        else:
            self.go("review", str(Plan(tag=page.stem)))

    def action_suggest(self) -> None:
        """Go through the suggested cards of this concept."""
        if self._page is None or self._stands is None or not self._stands.suggested:
            self.query_one(Notice).show_message(strings.NO_SUGGESTIONS)
        else:
            self.go("suggest", self._page.path)

    def offers(self, key: Key) -> bool:
        if key.action == "suggest":
            return self._stands is not None and self._stands.suggested > 0
        return key.action not in ("insight", "review") or (self._page is not None and self._page.is_concept)

    # --- words in the page ------------------------------------------------------------------------------------------

    def action_find(self) -> None:
        asked = self.query_one("#article-find", Input)
        asked.display = True
        self.set_focus(asked)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Go to the next row that contains the words; an empty search ends it."""
        words, notice = message.value.strip(), self.query_one(Notice)
        before, row = self._found
        if not words:
            self._end_search()
            return
        row, of = self._text.look_for(words, row if words == before else -1)
        self._found = (words, row)
        notice.show_message(strings.found(words, of))

    def _end_search(self) -> None:
        self.query_one("#article-find", Input).display = False
        self._found = ("", -1)
        self._text.find("")
        self._text.focus()
        self.query_one(Notice).clear()

    def action_back(self) -> None:
        """Close the search, else the sidebar of a narrow page, else the reader."""
        if self.query_one("#article-find", Input).display:
            self._end_search()
        elif self.has_class("-beside") and not self.has_class("-wide"):
            self._quote = ""
            self.remove_class("-beside")
            self._aside.leave()
        else:
            super().action_back()

    def action_scroll(self, rows: int) -> None:
        self._text.scroll_relative(y=rows, animate=False)

    def action_page(self, pages: int) -> None:
        self._text.scroll_relative(y=pages * max(1, self._text.size.height - 1), animate=False)

    def action_end(self, end: int) -> None:
        self._text.scroll_to(y=self._text.max_scroll_y if end else 0, animate=False)
