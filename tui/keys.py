"""Every key of the app: one registry for the bindings, the bar at the bottom, the help and the palette."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from textual.binding import Binding

from tui.strings.stats import SECTIONS


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a screen: `keys` are Textual's names; without `words` it is not listed at the bottom of the screen.

    `about` is the line that the help gives it, `group` the heading there under which it stands. An `urgent` one acts
    before it goes from widget to widget, unless the user writes in a field: the key after one that opens a field is for
    the field even if both come at once, and no other key has to be as quick as a rating.
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
        """The text in the help and the palette."""
        return self.about or self.words


def _scrolling(screen: str, group: str = "", *, paged: bool = True) -> tuple[Key, ...]:
    lines = (
        Key(f"{screen}.down", "down,j", "scroll(1)", about="Scroll down", group=group),
        Key(f"{screen}.up", "up,k", "scroll(-1)", about="Scroll up", group=group),
    )
    pages = (
        Key(f"{screen}.page_down", "pagedown", "page(1)", about="A page down", group=group),
        Key(f"{screen}.page_up", "pageup", "page(-1)", about="A page up", group=group),
    )
    return (*lines, *pages) if paged else lines


def _moving(screen: str, group: str = "") -> tuple[Key, Key]:
    """Return the keys that move in a list, besides the arrows that its widget has."""
    return (
        Key(f"{screen}.down", "j", "move(1)", about="Down", group=group),
        Key(f"{screen}.up", "k", "move(-1)", about="Up", group=group),
    )


HOME = (
    Key("home.review", "enter,space", "review", "Review", "enter", about="Review the cards due today"),
    Key("home.ask", "a", "go('ask')", "Ask", about="Ask your sources a question"),
    Key("home.gaps", "g", "go('gaps')", "Gaps", about="Gaps, and what would fill them"),
    Key("home.browse", "b", "go('browse')", "Browse", about="Every card and article, searched and sorted"),
    Key("home.search", "slash", "go('search')", about="Search your sources, the wiki and the cards"),
    Key("home.stats", "s", "go('stats')", "Stats", about="Recall, forecast, workload"),
    Key("home.work", "w", "go('work')", "Work", about="Compile, import, fit the scheduler"),
    Key(
        "home.practise",
        "p",
        "go('practise')",
        "Practise",
        about="Only some cards: a topic, a tag; cram, preview, learn ahead",
    ),
    Key("home.refresh", "r,f5", "refresh", about="Read the vault again"),
    Key("home.quiz", "z", "go('quiz')", "Quiz", about="Answer questions about a topic"),
    Key("home.settings", "comma", "go('settings')", "Settings", ",", about="Learning and appearance"),
    *_scrolling("home"),
    Key("home.inbox", "i", "go('inbox')", about="Proposals for pages and cards that you edited"),
    Key("home.suggest", "t", "go('suggest')", about="Suggested cards: keep, edit or drop them"),
    Key("home.quit", "q", "quit", "Quit", about="Leave retain"),
)
_ON_THE_CARD = (
    Key("review.reveal", "space,enter", "reveal", "Answer", about="Show the answer; again: Good", group="Answer"),
    Key("review.again", "1", "rate(1)", about="Again: forgotten", group="Answer"),
    Key("review.hard", "2", "rate(2)", about="Hard: recalled with effort", group="Answer"),
    Key("review.good", "3", "rate(3)", about="Good: recalled", group="Answer"),
    Key("review.easy", "4", "rate(4)", about="Easy: recalled at once", group="Answer"),
    Key("review.type", "t", "type", "Type", about="Write the answer first", group="Answer"),
    Key("review.undo", "u", "undo", "Undo", about="Undo the last step", group="Answer"),
    Key("review.source", "s", "source", "Source", about="The quote in its source", group="Look"),
    Key("review.article", "a", "article", "Article", about="The article of its concept", group="Look"),
    Key("review.insight", "i", "insight", "Write a note", about="At the end: write a note of your own", group="Look"),
    Key("review.ahead", "l", "ahead", "Learn ahead", about="At the end: what is due by tomorrow", group="Answer"),
    Key("review.edit", "e", "edit", "Edit", about="Edit it here", group="Card"),
    Key("review.edit_outside", "E", "edit_outside", about="Edit it in your editor", group="Card"),
    Key("review.flag", "f", "flag", "Flag", about="Flag with a reason", group="Card"),
    Key("review.open", "o", "open", "Open", about="The source's web address", group="Look"),
    Key("review.picture", "v", "picture", "Picture", about="Its picture, in your viewer", group="Look"),
    Key("review.bury", "b", "bury", "Bury", about="Bury until tomorrow", group="Card"),
    Key("review.suspend", "x,exclamation_mark", "suspend", "Suspend", "x", about="Suspend until resumed", group="Card"),
    Key("review.home", "escape,q", "home", "Home", "esc", about="Home; all is saved", group="Card"),
)
# All of them at once: else a rating would overtake the key before it.
REVIEW = (*(replace(key, urgent=True) for key in _ON_THE_CARD), *_scrolling("review", group="Look"))
# While an answer is typed, in the review as in a quiz.
TYPED = (
    Key("typed.done", "ctrl+s,ctrl+enter", "done", "Answer", "ctrl+s", "Finish the answer", "Answer"),
    Key("typed.leave", "escape", "leave", "Don't type", "esc", "Continue without typing", "Answer"),
)
QUIZ = (  # not letters while one writes: these go into the answer
    Key("quiz.article", "ctrl+o", "article", "Article", about="Read the article the tutor points to", group="Look"),
    Key("quiz.end", "ctrl+n", "end", "End", about="End: what was right and what was missing", group="Answer"),
    Key("quiz.review", "r", "review", "Review", about="At the end: review its cards", group="Answer"),
    Key("quiz.leave", "escape,q", "leave", "Back", "esc", "Stop waiting; else back"),
)
EDIT = (  # not letters: these go into the card
    Key("edit.save", "ctrl+s", "save", "Save", "ctrl+s", about="Save the card"),
    Key("edit.back", "escape", "back", "Back", "esc", about="Back; asks once about unsaved changes"),
)
PRACTISE = (
    Key("practise.start", "enter", "start", "Start", about="Start"),
    Key("practise.mode", "m", "mode(1)", "How", about="Review, ahead, cram or preview"),
    Key("practise.more", "plus,equals_sign,right,l", "number(1)", "More", "+", about="More cards, or days"),
    Key("practise.fewer", "minus,left,h", "number(-1)", "Fewer", "-", about="Fewer cards, or days"),
    *_moving("practise"),
    Key("practise.back", "escape,q", "back", "Back", "esc", about="Home"),
)
STATS = (
    *(Key(f"stats.section_{n}", str(n), f"section({n})", about=name) for n, name in enumerate(SECTIONS, 1)),
    Key("stats.next", "right,l,tab", "turn(1)", "Next", "→", about="The next section"),
    Key("stats.previous", "left,h,shift+tab", "turn(-1)", "Previous", "←", about="The previous section"),
    Key("stats.choose", "f", "choose", "Topic or tag", about="Only the cards of a topic or tag"),
    *_scrolling("stats", paged=False),
    Key("stats.back", "escape,q", "back", "Back", "esc", about="Home"),
)
GAPS = (
    Key("gaps.article", "enter", "article", "Read", about="Open the article that mentions it", group="This gap"),
    Key("gaps.mention", "m", "article(1)", about="Open the next article that mentions it", group="This gap"),
    Key("gaps.plan", "p", "decide('plan')", "Plan", about="Mark it as planned reading", group="This gap"),
    Key("gaps.add", "plus,a", "add", "Add", "+", "Add a file or a web address that fills it", "This gap"),
    Key("gaps.query", "y", "query", "Copy search", about="Copy the words to search the web for", group="This gap"),
    Key("gaps.resolve", "r", "decide('resolve')", "Resolve", about="Mark it as resolved", group="This gap"),
    Key("gaps.ignore", "i", "decide('ignore')", "Ignore", about="Ignore it", group="This gap"),
    Key("gaps.card", "c", "card", about="Open the card that was forgotten most often", group="This gap"),
    Key("gaps.undo", "u", "undo", "Undo", about="Undo the last decision", group="This gap"),
    Key("gaps.find", "slash", "find", "Find", "/", "Only gaps with these words", "The list", urgent=True),
    Key("gaps.all", "0", "kind('')", about="Gaps of all kinds", group="The list"),
    Key("gaps.structural", "1", "kind('structural')", about="Only concepts that no source explains", group="The list"),
    Key("gaps.epistemic", "2", "kind('epistemic')", about="Only questions the wiki cannot answer", group="The list"),
    Key("gaps.learner", "3", "kind('learner')", about="Only cards that you keep forgetting", group="The list"),
    Key("gaps.settled", "s", "settled", "Closed", about="Show or hide resolved and ignored gaps", group="The list"),
    *_moving("gaps", group="The list"),
    Key("gaps.back", "escape,q", "back", "Back", "esc"),
)
INBOX = (
    Key("inbox.accept", "a", "accept", "Accept", about="Replace yours with the proposal", group="This one"),
    Key("inbox.keep", "m", "keep", "Keep mine", about="Keep yours; this is not proposed again", group="This one"),
    Key("inbox.reject", "r", "reject", "Reject", "r", "Keep yours, and give a reason", "This one", urgent=True),
    Key("inbox.undo", "u", "undo", "Undo", about="Undo the last decision", group="This one"),
    Key("inbox.open", "enter,o", "open", "Open", about="Open yours: the page, or the card", group="This one"),
    Key("inbox.on", "space,right,l", "scroll(1)", about="Next part of the differences", group="Look"),
    Key("inbox.before", "b,left,h", "scroll(-1)", about="Previous part of the differences", group="Look"),
    *_moving("inbox", group="Look"),
    Key("inbox.back", "escape,q", "back", "Back", "esc"),
)
SUGGEST = (
    Key("suggest.keep", "k,enter", "keep", "Keep", "k", "Put the card into its deck", "This card"),
    Key("suggest.edit", "e", "edit", "Edit", "e", "Keep the card in your own words", "This card", urgent=True),
    Key("suggest.drop", "d", "drop", "Drop", about="Never suggest it again", group="This card"),
    Key("suggest.skip", "s,space,right", "skip", "Skip", "s", "Decide another time", "This card"),
    Key("suggest.undo", "u", "undo", "Undo", about="Undo the last decision", group="This card"),
    Key("suggest.save", "ctrl+s", "save", "Save", about="While editing: keep the card in these words"),
    Key("suggest.more", "n", "more", "Next", about="At the end: the next suggestions"),
    Key("suggest.article", "a", "article", "Article", about="The article of its concept", group="Look"),
    Key("suggest.down", "down", "scroll(1)", about="Scroll the passage down", group="Look"),
    Key("suggest.up", "up", "scroll(-1)", about="Scroll the passage up", group="Look"),
    Key("suggest.back", "escape,q", "back", "Back", "esc", "Back; kept cards go into their decks"),
)
FIRST_RUN = (
    Key("first.choose", "enter", "choose", "Choose", about="Choose the selected entry"),
    Key("first.new", "1", "take('new')", about="Create a vault"),
    Key("first.example", "2", "take('example')", about="Try the example"),
    Key("first.adopt", "3", "take('adopt')", about="Use the folder you are in"),
    Key("first.again", "r", "again", "Look again", about="Try to open it again"),
    *_moving("first"),
    Key("first.back", "escape", "back", "Back", "esc", about="Back to the menu; stops a running job"),
    Key("first.quit", "q", "quit", "Quit", about="Leave retain"),
)
ARTICLE = (
    Key("article.next_link", "tab", "link(1)", "Links", about="To the next link", group="Links"),
    Key("article.last_link", "shift+tab", "link(-1)", about="To the previous link", group="Links"),
    Key("article.follow", "enter", "follow", "Follow", about="Open the link (quote, page or address)", group="Links"),
    Key("article.before", "left_square_bracket", "before", "Back", "[", "The previous page", "Links"),
    Key("article.after", "right_square_bracket", "after", "Next", "]", "The next page", "Links"),
    Key("article.aside", "n", "aside", "Around", about="Mastery, gaps and backlinks", group="Page"),
    Key("article.insight", "i", "insight", "Insight", about="Write an insight in your editor", group="Page"),
    Key("article.review", "r", "review", "Review", about="Review its cards that are due or new", group="Page"),
    Key("article.suggest", "t", "suggest", about="Keep, edit or drop its suggested cards", group="Page"),
    Key("article.find", "slash", "find", "Find", "/", "Find words in the page; enter: next", "Page", urgent=True),
    Key("article.index", "g", "index", "Pages", about="All pages of the wiki", group="Page"),
    Key("article.down", "down,j", "scroll(1)", about="Scroll down", group="Page"),
    Key("article.up", "up,k", "scroll(-1)", about="Scroll up", group="Page"),
    Key("article.page_down", "pagedown,space", "page(1)", about="A page down", group="Page"),
    Key("article.page_up", "pageup,b", "page(-1)", about="A page up", group="Page"),
    Key("article.top", "home", "end(0)", about="To the top", group="Page"),
    Key("article.bottom", "end,G", "end(1)", about="To the end", group="Page"),
    Key("article.back", "escape,q", "back", "Close", "esc", about="Close the reader", group="Page"),
)
WORK = (
    Key("work.choose", "enter", "choose", "Start", about="Start the selected command"),
    Key("work.cancel", "c", "cancel", "Cancel", about="Stop the job; what it has saved stays"),
    Key("work.home", "h", "leave", "In background", about="Leave the job running in the background"),
    Key("work.review", "r", "result('review')", "Review", about="Review the new cards"),
    Key("work.gaps", "g", "result('gaps')", "Gaps", about="Show the gaps"),
    Key("work.compile", "m", "compile", "Compile", about="Create articles and cards from what was added"),
    Key("work.again", "n", "menu", "Other jobs", about="Run another command"),
    *_moving("work"),
    Key("work.back", "escape,q", "back", "Back", "esc"),
)
BROWSE = (
    Key("browse.open", "enter", "open", "Open", about="The whole card with its history, or the article", group="Look"),
    Key("browse.search", "slash", "search", "Search", "/", "Search cards and articles", "Find", urgent=True),
    Key("browse.mark", "space", "mark", "Select", about="Select or unselect", group="Select"),
    Key("browse.suspend", "x,exclamation_mark", "suspend", "Suspend", "x", "Suspend or resume", "Cards"),
    Key("browse.tag", "T", "ask('tag')", "Tag", about="Add or remove a tag", group="Cards"),
    Key("browse.reschedule", "d", "ask('reschedule')", "Due", about="Set the due date", group="Cards"),
    Key("browse.sort", "o", "sort", "Sort", about="Choose the order", group="Find"),
    Key("browse.scope", "c", "scope", about="Cards, articles or both", group="Find"),
    Key("browse.undo", "u", "undo", "Undo", about="Undo the last action", group="Cards"),
    Key("browse.bury", "b", "bury", about="Bury until tomorrow", group="Cards"),
    Key("browse.flag", "f", "ask('flag')", about="Flag with a reason", group="Cards"),
    Key("browse.edit", "e", "edit", about="Edit it here", group="Cards"),
    Key("browse.editor", "E", "edit_outside", about="Edit it in your editor", group="Cards"),
    Key("browse.article", "a", "article", about="The article of its concept", group="Look"),
    Key("browse.all", "ctrl+a", "all", about="Select all results, or none", group="Select"),
    Key("browse.extend_up", "shift+up", "extend(-1)", about="Extend the selection up", group="Select"),
    Key("browse.extend_down", "shift+down", "extend(1)", about="Extend the selection down", group="Select"),
    Key("browse.switch", "tab,shift+tab", "switch", about="From the search to the list and back", group="Find"),
    Key("browse.down", "down,j", "move(1)", about="Down", group="Look"),
    Key("browse.up", "up,k", "move(-1)", about="Up", group="Look"),
    Key("browse.page_down", "pagedown", "page(1)", about="A page down", group="Look"),
    Key("browse.page_up", "pageup", "page(-1)", about="A page up", group="Look"),
    Key("browse.first", "home", "end(-1)", about="The first", group="Look"),
    Key("browse.last", "end", "end(1)", about="The last", group="Look"),
    Key("browse.back", "escape,q", "back", "Back", "esc"),
)
ASK = (  # not letters while a question is typed: these go into it
    Key("ask.enter", "enter", "enter", "Ask", about="Ask; in a list: show the source, ask again", group="Question"),
    Key("ask.older", "up", "recall(1)", about="An earlier question", group="Question"),
    Key("ask.newer", "down", "recall(-1)", about="The question after that", group="Question"),
    Key("ask.file", "ctrl+f", "file", "File this", about="File the answer as a page of wiki/answers/", group="Answer"),
    Key("ask.page", "ctrl+o,o", "page", "Open page", "ctrl+o", "Open the page of the answer", "Answer"),
    Key("ask.switch", "tab,shift+tab", "switch", "Sources", about="To the list and back", group="Answer"),
    Key("ask.article", "a", "article", "Article", about="In the list: open the page on this source", group="Answer"),
    Key("ask.new", "ctrl+n", "new", "New", about="Begin a new conversation", group="Question"),
    Key("ask.before", "shift+up", "turn(-1)", about="The answer before", group="Answer"),
    Key("ask.after", "shift+down", "turn(1)", about="The answer after", group="Answer"),
    *_moving("ask", group="Answer"),
    Key("ask.page_down", "pagedown", "page_by(1)", about="A page down", group="Answer"),
    Key("ask.page_up", "pageup", "page_by(-1)", about="A page up", group="Answer"),
    Key("ask.back", "escape,q", "back", "Back", "esc", about="Stop waiting; else one step back"),
)
# These work on every screen, whatever is being typed there ...
APP = (
    Key("app.theme", "ctrl+t", "toggle_dark", about="Change between light and dark"),
    Key("app.interrupt", "ctrl+c", "interrupt", about="Copy the selection; without one leave, nothing is lost"),
)
# ... and these wherever the key is not a letter of what is being typed.
ANYWHERE = (Key("app.help", "question_mark,f1", "help", "Help", "?", "Show the keys of this screen"),)
# Not shown at the bottom: known from the shell.
SHELL = (Key("app.stop", "ctrl+z", "suspend_process", about="Suspend retain, as in a shell; fg returns"),)
EVERYWHERE = (*APP, *ANYWHERE, *SHELL)
HELP = (  # shown above a screen, whose keys are off meanwhile
    Key("help.close", "escape,q,enter,space", "close", "Close", "esc"),
    Key("help.down", "down,j", "scroll(1)"),
    Key("help.up", "up,k", "scroll(-1)"),
    Key("help.page_down", "pagedown", "scroll(10)"),
    Key("help.page_up", "pageup", "scroll(-10)"),
)
SETTINGS = (
    Key("settings.more", "right,plus,l", "step(1)", "More", "→", "The next value"),
    Key("settings.less", "left,minus,h", "step(-1)", "Less", "←", "The previous value"),
    Key("settings.edit", "enter", "edit", about="Type a value"),
    Key("settings.default", "d,delete", "default", "Default", about="Reset to default"),
    Key("settings.undo", "u", "undo", "Undo", about="Undo the last change"),
    Key("settings.back", "escape,q", "back", "Back", "esc", "Home"),
)
SEARCH = (
    Key("search.open", "enter", "open", "Open", about="Open what was found"),
    Key("search.find", "slash", "find", "Find", "/", "Other words", urgent=True),
    *_moving("search"),
    Key("search.back", "escape,q", "back", "Back", "esc", about="Back"),
)
# The keys of each screen by its name; those of EVERYWHERE work on all of them.
SCREENS = {
    "home": HOME,
    "stats": STATS,
    "review": REVIEW,
    "edit": EDIT,
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
