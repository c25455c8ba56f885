"""Every key of the app: one registry for the bindings, the bar at the bottom, the help and the palette."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from textual.binding import Binding

from tui.strings.home import STEPS
from tui.strings.stats import SECTIONS
from tui.strings.work import MENU


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a screen: `keys` are Textual's names; without `words` it is not listed at the bottom of the screen.

    `about` is what the help says of it after the words, `group` the heading there under which it stands. An `urgent`
    one acts before it goes from widget to widget, unless the user writes in a field: the key after one that opens a
    field is for the field even if both come at once, and no other key has to be as quick as a rating.
    """

    id: str
    keys: str
    action: str
    words: str = ""
    shown: str = ""
    about: str = ""
    group: str = ""
    urgent: bool = False

    @property
    def display(self) -> str:
        return self.shown or self.keys.split(",")[0]

    @property
    def description(self) -> str:
        """The text in the help: the label at the bottom of the screen, then what it means."""
        return ": ".join(filter(None, (self.words, self.about)))

    @property
    def label(self) -> str:
        """The key's name in a list."""
        return self.words or self.about.partition(": ")[0]

    @property
    def meaning(self) -> str:
        """What the key does, beside its label; "" if that says it all."""
        return self.about if self.words else self.about.partition(": ")[2]


def _scrolling(screen: str, group: str = "", *, paged: bool = True) -> tuple[Key, ...]:
    lines = (
        Key(f"{screen}.down", "down,j", "scroll(1)", about="Scroll down", group=group),
        Key(f"{screen}.up", "up,k", "scroll(-1)", about="Scroll up", group=group),
    )
    pages = (
        Key(f"{screen}.page_down", "pagedown", "page(1)", about="Page down", group=group),
        Key(f"{screen}.page_up", "pageup", "page(-1)", about="Page up", group=group),
    )
    return (*lines, *pages) if paged else lines


def _moving(screen: str, group: str = "") -> tuple[Key, Key]:
    """Return the keys that move in a list, besides the arrows that its widget has."""
    return (
        Key(f"{screen}.down", "j", "move(1)", about="Down", group=group),
        Key(f"{screen}.up", "k", "move(-1)", about="Up", group=group),
    )


HOME = (
    Key("home.review", "enter,space", "review", "Review", "enter", about="start with the cards due today"),
    Key("home.ask", "a", "go('ask')", "Ask", about="get answers from your sources"),
    Key("home.gaps", "g", "go('gaps')", "Gaps", about="what is missing from the sources, and what to read"),
    Key("home.browse", "b", "go('browse')", "Browse", about="search, sort and edit all cards and articles"),
    Key("home.search", "slash", "go('search')", about="Search: full text of sources, wiki and cards"),
    Key("home.stats", "s", "go('stats')", "Stats", about="recall, forecast, workload"),
    Key("home.work", "w", "go('work')", "Jobs", about="compile, add, import, export"),
    Key(
        "home.practise",
        "p",
        "go('practise')",
        "Practise",
        about="cram, preview or review ahead, by topic or tag",
    ),
    Key("home.refresh", "r,f5", "refresh", about="Refresh: read the vault again"),
    Key("home.quiz", "z", "go('quiz')", "Quiz", about="answer questions about a topic"),
    Key("home.settings", "comma", "go('settings')", "Settings", ",", about="learning and appearance"),
    *_scrolling("home"),
    Key("home.inbox", "i", "go('inbox')", about="Inbox: proposed changes to pages and cards that you edited"),
    Key("home.suggest", "t", "go('suggest')", about="Suggested cards: keep, edit or drop them"),
    Key(
        "home.catch_up",
        "c",
        "catch_up",
        about="Catch up: spread a backlog over several days; press again to change the number of reviews a day",
    ),
    Key("home.undo_plan", "u", "undo_plan", about="Undo: undo the catch-up plan that you just started"),
    Key("home.cancel", "escape", "back", about="Close the input field"),
    *(Key(f"home.step_{n}", str(n), f"step({n})", about=f"Start step {n}", group=STEPS) for n in (1, 2, 3)),
    Key("home.quit", "q", "quit", "Quit", about="leave retain; everything is saved"),
)
_ON_THE_CARD = (
    Key(
        "review.reveal",
        "space,enter",
        "reveal",
        "Answer",
        about="show the answer; press again to rate it Good",
        group="Answer",
    ),
    Key("review.again", "1", "rate(1)", about="Again: forgotten", group="Answer"),
    Key("review.hard", "2", "rate(2)", about="Hard: recalled with effort", group="Answer"),
    Key("review.good", "3", "rate(3)", about="Good: recalled", group="Answer"),
    Key("review.easy", "4", "rate(4)", about="Easy: recalled at once", group="Answer"),
    Key("review.type", "t", "type", "Type", about="type your answer before the card's answer is shown", group="Answer"),
    Key("review.undo", "u", "undo", "Undo", about="undo the last action", group="Answer"),
    Key("review.source", "s", "source", "Source", about="show the source passage", group="View"),
    Key("review.article", "a", "article", "Article", about="open the concept's article", group="View"),
    Key(
        "review.insight",
        "i",
        "insight",
        "Write a note",
        about="write your own note (once the session is over)",
        group="View",
    ),
    Key(
        "review.ahead",
        "l",
        "ahead",
        "Review ahead",
        about="review cards due by tomorrow (once the session is over)",
        group="Answer",
    ),
    Key("review.more", "n", "more", "10 more new cards", about="today (once the session is over)", group="Answer"),
    Key("review.info", "I", "info", about="Card info: the schedule and every rating", group="View"),
    Key("review.new", "plus", "new_card", about="New card: write a card", group="Card"),
    Key("review.edit", "e", "edit", "Edit", about="change the card's text here", group="Card"),
    Key("review.edit_outside", "E", "edit_outside", about="Edit the card in your editor", group="Card"),
    Key("review.flag", "f", "flag", "Flag", about="mark the card as wrong or unclear", group="Card"),
    Key("review.open", "o", "open", "Open", about="open the source's web address", group="View"),
    Key("review.picture", "v", "picture", "Picture", about="open the picture in your viewer", group="View"),
    Key("review.bury", "b", "bury", "Bury", about="skip the card until tomorrow", group="Card"),
    Key(
        "review.suspend",
        "x,exclamation_mark",
        "suspend",
        "Suspend",
        "x",
        about="don't show the card until you unsuspend it",
        group="Card",
    ),
    Key(
        "review.home",
        "escape,q",
        "home",
        "Home",
        "esc",
        about="close the source passage or, if none is open, leave the review; everything is saved",
        group="Card",
    ),
)
# All of them at once: else a rating would overtake the key before it.
REVIEW = (*(replace(key, urgent=True) for key in _ON_THE_CARD), *_scrolling("review", group="View"))
# While an answer is typed, in the review as in a quiz.
TYPED = (
    Key("typed.done", "ctrl+s,ctrl+enter", "done", "Answer", "ctrl+s", "finish typing and show the answer", "Answer"),
    Key("typed.leave", "escape", "leave", "Don't type", "esc", "answer in your head instead", "Answer"),
)
QUIZ = (  # not letters while one writes: these go into the answer
    Key(
        "quiz.article", "ctrl+o", "article", "Article", about="open the article that the model refers to", group="View"
    ),
    Key(
        "quiz.end",
        "ctrl+n",
        "end",
        "End",
        about="end the quiz and show what was right and what was missing",
        group="Answer",
    ),
    Key(
        "quiz.review", "r", "review", "Review", about="review the topic's cards (once the quiz is over)", group="Answer"
    ),
    Key("quiz.leave", "escape,q", "leave", "Back", "esc", "leave the quiz, or stop waiting for the model"),
)
EDIT = (  # not letters: these go into the card
    Key("edit.save", "ctrl+s", "save", "Save", "ctrl+s", about="save the changes to this card"),
    Key("edit.back", "escape", "back", "Back", "esc", about="go back; asks before discarding unsaved changes"),
)
NEW = (  # not letters: these go into the card
    Key("new.save", "ctrl+s", "save", "Add", "ctrl+s", about="add the card and write the next one"),
    Key("new.type", "ctrl+n", "type(1)", "Type", "ctrl+n", about="basic, reversed or cloze"),
    Key("new.kind", "ctrl+o", "kind(1)", "Kind of question", "ctrl+o", about="choose the kind of question (optional)"),
    Key("new.back", "escape", "back", "Back", "esc", about="go back; asks before discarding an unsaved card"),
)
INFO = (
    *_scrolling("info"),
    Key("info.back", "escape,q,I", "back", "Back", "esc", about="return to the card"),
)
PRACTISE = (
    Key("practise.start", "enter", "start", "Start", about="practise the selected cards"),
    Key("practise.mode", "m", "mode(1)", "Mode", about="review, review ahead, cram or preview"),
    Key("practise.more", "plus,equals_sign,right,l", "number(1)", "More", "+", about="more cards, or more days ahead"),
    Key("practise.fewer", "minus,left,h", "number(-1)", "Fewer", "-", about="fewer cards, or fewer days ahead"),
    Key("practise.new", "n", "more_new", "10 more new cards", about="allow 10 more new cards today"),
    *_moving("practise"),
    Key("practise.back", "escape,q", "back", "Back", "esc"),
)
STATS = (
    *(Key(f"stats.section_{n}", str(n), f"section({n})", about=name) for n, name in enumerate(SECTIONS, 1)),
    Key("stats.next", "right,l,tab", "turn(1)", "Next", "→", about="show the next section"),
    Key("stats.previous", "left,h,shift+tab", "turn(-1)", "Previous", "←", about="show the previous section"),
    Key("stats.choose", "f", "choose", "Topic or tag", about="only the cards of one topic or tag"),
    *_scrolling("stats", paged=False),
    Key("stats.back", "escape,q", "back", "Back", "esc"),
)
GAPS = (
    Key("gaps.article", "enter", "article", "Read", about="open the article that mentions the gap", group="This gap"),
    Key("gaps.mention", "m", "article(1)", about="Open the next article that mentions the gap", group="This gap"),
    Key("gaps.plan", "p", "decide('plan')", "Plan", about="mark the gap as planned", group="This gap"),
    Key("gaps.add", "plus,a", "add", "Add", "+", "add a file or web page that fills the gap", "This gap"),
    Key("gaps.query", "y", "query", "Copy search", about="copy the words for a web search", group="This gap"),
    Key("gaps.resolve", "r", "decide('resolve')", "Resolve", about="mark the gap as resolved", group="This gap"),
    Key("gaps.ignore", "i", "decide('ignore')", "Ignore", about="don't list the gap again", group="This gap"),
    Key("gaps.card", "c", "card", about="Open the card that you forgot most often", group="This gap"),
    Key("gaps.undo", "u", "undo", "Undo", about="undo the last decision", group="This gap"),
    Key("gaps.find", "slash", "find", "Find", "/", "only gaps with these words", "List", urgent=True),
    Key("gaps.all", "0", "kind('')", about="Gaps of all kinds", group="List"),
    Key("gaps.structural", "1", "kind('structural')", about="Only concepts that no source explains", group="List"),
    Key("gaps.epistemic", "2", "kind('epistemic')", about="Only questions the wiki cannot answer", group="List"),
    Key("gaps.learner", "3", "kind('learner')", about="Only cards that you keep forgetting", group="List"),
    Key("gaps.settled", "s", "settled", "Closed", about="show or hide resolved and ignored gaps", group="List"),
    *_moving("gaps", group="List"),
    Key("gaps.back", "escape,q", "back", "Back", "esc"),
)
INBOX = (
    Key(
        "inbox.accept",
        "a",
        "accept",
        "Accept",
        about="replace your version with the proposed one",
        group="This proposal",
    ),
    Key(
        "inbox.keep",
        "m",
        "keep",
        "Keep mine",
        about="keep your version; the change is not proposed again",
        group="This proposal",
    ),
    Key(
        "inbox.reject",
        "r",
        "reject",
        "Reject",
        "r",
        "keep your version and give a reason",
        "This proposal",
        urgent=True,
    ),
    Key("inbox.undo", "u", "undo", "Undo", about="undo the last decision", group="This proposal"),
    Key("inbox.open", "enter,o", "open", "Open", about="open your page or card", group="This proposal"),
    Key("inbox.on", "space,right,l", "scroll(1)", about="Next change", group="View"),
    Key("inbox.before", "b,left,h", "scroll(-1)", about="Previous change", group="View"),
    *_moving("inbox", group="View"),
    Key("inbox.back", "escape,q", "back", "Back", "esc"),
)
SUGGEST = (
    Key("suggest.keep", "k,enter", "keep", "Keep", "k", "put the card into its deck", "This card"),
    Key("suggest.edit", "e", "edit", "Edit", "e", "change the card, then keep it", "This card", urgent=True),
    Key("suggest.drop", "d", "drop", "Drop", about="never suggest it again", group="This card"),
    Key("suggest.skip", "s,space,right", "skip", "Skip", "s", "decide another time", "This card"),
    Key("suggest.undo", "u", "undo", "Undo", about="undo the last decision", group="This card"),
    Key("suggest.save", "ctrl+s", "save", "Save", about="keep the edited card"),
    Key("suggest.more", "n", "more", "Next", about="show more suggestions, after this batch"),
    Key("suggest.article", "a", "article", "Article", about="open the concept's article", group="View"),
    Key("suggest.down", "down", "scroll(1)", about="Scroll the passage down", group="View"),
    Key("suggest.up", "up", "scroll(-1)", about="Scroll the passage up", group="View"),
    Key("suggest.back", "escape,q", "back", "Back", "esc", "leave; the cards you kept are added to their decks"),
)
FIRST_RUN = (
    Key("first.choose", "enter", "choose", "Choose", about="start with the selected option"),
    Key("first.new", "1", "take('new')", about="Create a vault"),
    Key("first.example", "2", "take('example')", about="Try the example"),
    Key("first.adopt", "3", "take('adopt')", about="Use this folder"),
    Key("first.again", "r", "again", "Try again", about="try to open the vault again"),
    *_moving("first"),
    Key("first.back", "escape", "back", "Back", "esc", about="return to the menu; stops a running job"),
    Key("first.quit", "q", "quit", "Quit", about="leave retain"),
)
ARTICLE = (
    Key("article.next_link", "tab", "link(1)", "Links", about="select the next link", group="Links"),
    Key("article.last_link", "shift+tab", "link(-1)", about="Select the previous link", group="Links"),
    Key("article.follow", "enter", "follow", "Follow", about="open the link (quote, page or address)", group="Links"),
    Key("article.before", "left_square_bracket", "before", "Back", "[", "to the previous page", "Links"),
    Key("article.after", "right_square_bracket", "after", "Forward", "]", "to the next page", "Links"),
    Key("article.aside", "n", "aside", "Details", about="show mastery, gaps and backlinks", group="Page"),
    Key("article.insight", "i", "insight", "Write a note", about="write your own note in your editor", group="Page"),
    Key("article.review", "r", "review", "Review", about="review this page's due and new cards", group="Page"),
    Key("article.suggest", "t", "suggest", about="Suggested cards: keep, edit or drop them", group="Page"),
    Key(
        "article.find",
        "slash",
        "find",
        "Find",
        "/",
        "find words on the page; enter goes to the next",
        "Page",
        urgent=True,
    ),
    Key("article.index", "g", "index", "Pages", about="list all pages of the wiki", group="Page"),
    Key("article.down", "down,j", "scroll(1)", about="Scroll down", group="Page"),
    Key("article.up", "up,k", "scroll(-1)", about="Scroll up", group="Page"),
    Key("article.page_down", "pagedown,space", "page(1)", about="Page down", group="Page"),
    Key("article.page_up", "pageup,b", "page(-1)", about="Page up", group="Page"),
    Key("article.top", "home", "end(0)", about="Top of the page", group="Page"),
    Key("article.bottom", "end,G", "end(1)", about="End of the page", group="Page"),
    Key("article.back", "escape,q", "back", "Close", "esc", group="Page"),
)
WORK = (
    Key("work.choose", "enter", "choose", "Start", about="start the selected job"),
    *(Key(f"work.take_{n}", str(n), f"take({n})", about=name) for n, (name, _) in enumerate(MENU.values(), 1)),
    Key("work.cancel", "c", "cancel", "Cancel", about="stop the job; saved results are kept"),
    Key("work.home", "h", "leave", "Run in background", about="keep using the app while it runs"),
    Key("work.review", "r", "result('review')", "Review", about="review the new cards"),
    Key("work.gaps", "g", "result('gaps')", "Gaps", about="show what is missing from the sources"),
    Key("work.compile", "m", "compile", "Compile", about="create articles and cards from the added files"),
    Key("work.again", "n", "menu", "Other jobs", about="start another job"),
    *_moving("work"),
    Key("work.back", "escape,q", "back", "Back", "esc"),
)
BROWSE = (
    Key(
        "browse.open",
        "enter",
        "open",
        "Open",
        about="show the whole card with its history, or the article",
        group="View",
    ),
    Key(
        "browse.search",
        "slash",
        "search",
        "Find",
        "/",
        "search cards and articles with words and filters",
        "Find",
        urgent=True,
    ),
    Key("browse.mark", "space", "mark", "Select", about="select or unselect the card", group="Select"),
    Key(
        "browse.suspend",
        "x,exclamation_mark",
        "suspend",
        "Suspend",
        "x",
        "suspend (hide from reviews) or unsuspend the selected cards",
        "Cards",
    ),
    Key("browse.tag", "T", "ask('tag')", "Tag", about="add or remove a tag", group="Cards"),
    Key("browse.reschedule", "d", "ask('reschedule')", "Due", about="set the due date", group="Cards"),
    Key("browse.sort", "o", "sort", "Sort", about="choose the order", group="Find"),
    Key("browse.scope", "c", "scope", about="Show cards, articles or both", group="Find"),
    Key("browse.new", "plus", "new_card", "New", "+", "write a new card", "Cards"),
    Key(
        "browse.delete",
        "delete,D",
        "delete",
        shown="del",
        about="Delete: remove the selected cards from their decks",
        group="Cards",
    ),
    Key("browse.info", "I", "info", about="Card info: the schedule and every rating", group="View"),
    Key("browse.undo", "u", "undo", "Undo", about="undo the last action", group="Cards"),
    Key("browse.bury", "b", "bury", about="Bury: skip the selected cards until tomorrow", group="Cards"),
    Key("browse.flag", "f", "ask('flag')", about="Flag: mark the selected cards as wrong or unclear", group="Cards"),
    Key("browse.edit", "e", "edit", about="Edit: change the card's text here", group="Cards"),
    Key("browse.editor", "E", "edit_outside", about="Edit the card in your editor", group="Cards"),
    Key("browse.article", "a", "article", about="Article: open the concept's article", group="View"),
    Key("browse.all", "ctrl+a", "all", about="Select all results, or none", group="Select"),
    Key("browse.extend_up", "shift+up", "extend(-1)", about="Extend the selection up", group="Select"),
    Key("browse.extend_down", "shift+down", "extend(1)", about="Extend the selection down", group="Select"),
    Key("browse.switch", "tab,shift+tab", "switch", about="Switch between search and list", group="Find"),
    Key("browse.down", "down,j", "move(1)", about="Down", group="View"),
    Key("browse.up", "up,k", "move(-1)", about="Up", group="View"),
    Key("browse.page_down", "pagedown", "page(1)", about="Page down", group="View"),
    Key("browse.page_up", "pageup", "page(-1)", about="Page up", group="View"),
    Key("browse.first", "home", "end(-1)", about="First row", group="View"),
    Key("browse.last", "end", "end(1)", about="Last row", group="View"),
    Key("browse.back", "escape,q", "back", "Back", "esc"),
)
ASK = (  # not letters while a question is typed: these go into it
    Key(
        "ask.enter",
        "enter",
        "enter",
        "Ask",
        about="ask the question; in a list, show the source or ask again",
        group="Question",
    ),
    Key("ask.older", "up", "recall(1)", about="Previous question", group="Question"),
    Key("ask.newer", "down", "recall(-1)", about="Next question", group="Question"),
    Key(
        "ask.file", "ctrl+f", "file", "Save answer", about="save the answer as a page in wiki/answers/", group="Answer"
    ),
    Key("ask.page", "ctrl+o,o", "page", "Open page", "ctrl+o", "open the page saved from the answer", "Answer"),
    Key("ask.switch", "tab,shift+tab", "switch", "Sources", about="switch to the list and back", group="Answer"),
    Key("ask.article", "a", "article", "Article", about="open the wiki page about this source", group="Answer"),
    Key("ask.new", "ctrl+n", "new", "New", about="start a new conversation", group="Question"),
    Key("ask.before", "shift+up", "turn(-1)", about="Previous answer", group="Answer"),
    Key("ask.after", "shift+down", "turn(1)", about="Next answer", group="Answer"),
    *_moving("ask", group="Answer"),
    Key("ask.page_down", "pagedown", "page_by(1)", about="Page down", group="Answer"),
    Key("ask.page_up", "pageup", "page_by(-1)", about="Page up", group="Answer"),
    Key("ask.back", "escape,q", "back", "Back", "esc", about="go back, or stop waiting for the answer"),
)
# These work on every screen, whatever is being typed there ...
APP = (
    Key("app.theme", "ctrl+t", "toggle_dark", about="Colours: switch between light and dark"),
    Key("app.interrupt", "ctrl+c", "interrupt", about="Copy: copy the selection; if nothing is selected, quit"),
)
# ... and these wherever the key is not a letter of what is being typed.
ANYWHERE = (Key("app.help", "question_mark,f1", "help", "Help", "?", "show the keys of this screen"),)
# Not shown at the bottom: known from the shell.
SHELL = (Key("app.stop", "ctrl+z", "suspend_process", about="Shell: go to the shell (fg brings retain back)"),)
EVERYWHERE = (*APP, *ANYWHERE, *SHELL)
HELP = (  # shown above a screen, whose keys are off meanwhile
    Key("help.close", "escape,q,enter,space", "close", "Close", "esc"),
    Key("help.down", "down,j", "scroll(1)"),
    Key("help.up", "up,k", "scroll(-1)"),
    Key("help.page_down", "pagedown", "scroll(10)"),
    Key("help.page_up", "pageup", "scroll(-10)"),
)
SETTINGS = (
    Key("settings.more", "right,plus,l", "step(1)", "More", "→", "next value"),
    Key("settings.less", "left,minus,h", "step(-1)", "Less", "←", "previous value"),
    Key("settings.edit", "enter", "edit", about="Type a value"),
    Key("settings.default", "d,delete", "default", "Default", about="reset to default"),
    Key("settings.undo", "u", "undo", "Undo", about="undo the last change"),
    *_moving("settings"),
    Key("settings.back", "escape,q", "back", "Back", "esc"),
)
SEARCH = (
    Key("search.open", "enter", "open", "Open", about="open the selected result"),
    Key("search.find", "slash", "find", "Find", "/", "search for other words", urgent=True),
    *_moving("search"),
    Key("search.back", "escape,q", "back", "Back", "esc"),
)
# The keys of each screen by its name; those of EVERYWHERE work on all of them.
SCREENS = {
    "home": HOME,
    "stats": STATS,
    "review": REVIEW,
    "edit": EDIT,
    "new": NEW,
    "info": INFO,
    "practise": PRACTISE,
    "gaps": GAPS,
    "inbox": INBOX,
    "suggest": SUGGEST,
    "work": WORK,
    "first": FIRST_RUN,
    "browse": BROWSE,
    "settings": SETTINGS,
    "article": ARTICLE,
    "quiz": QUIZ,
    "search": SEARCH,
    "ask": ASK,
}


def bindings(keys: Iterable[Key], *, priority: bool = False) -> list[Binding]:
    """Return the keys as Textual bindings; their ids let a keymap move them."""
    return [
        Binding(k.keys, k.action, k.words, False, k.display, priority or k.urgent, id=k.id)  # not in Textual's footer
        for k in keys
    ]
