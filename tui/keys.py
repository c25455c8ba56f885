"""Every key of the app: one registry feeds the bindings, the bar at the foot of each screen, the help and the docs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding

from tui.strings.stats import SECTIONS


@dataclass(frozen=True, slots=True)
class Key:
    """`keys` are Textual's names, the first one shown as `shown`; a key without `words` is not at the screen's foot.

    `about` is the line that the help gives it, `group` the heading there under which it stands. One that `writes` opens
    a field: it takes effect before the next key is looked at, which belongs to the field even if both come at once.
    """

    id: str
    keys: str
    action: str
    words: str = ""
    shown: str = ""
    about: str = ""
    group: str = ""
    writes: bool = False

    @property
    def display(self) -> str:
        return self.shown or self.keys.split(",")[0]

    @property
    def told(self) -> str:
        """What the help and the palette say of it."""
        return self.about or self.words


HOME = (
    Key("home.review", "enter,space", "review", "Review", "enter", about="Begin with what is due"),
    Key("home.gaps", "g", "go('gaps')", "Gaps", about="What is missing, what fills it"),
    Key("home.browse", "b", "go('browse')", "Browse", about="Every card and article, searched and sorted"),
    Key("home.stats", "s", "go('stats')", "Stats", about="How it goes, what is coming"),
    Key(
        "home.practise",
        "p",
        "go('practise')",
        "Practise",
        about="Only some cards: a topic, a tag; cram, preview, learn ahead",
    ),
    Key("home.work", "w", "go('work')", "Work", about="Compile, import, fit the scheduler"),
    Key("home.refresh", "r,f5", "refresh", about="Read the vault anew"),
    Key("home.quiz", "z", "go('quiz')", "Quiz", about="Be asked about a topic"),
    Key("home.settings", "comma", "go('settings')", "Settings", ",", about="How you learn, how it looks"),
    Key("home.down", "down,j", "scroll(1)", about="Scroll down"),
    Key("home.up", "up,k", "scroll(-1)", about="Scroll up"),
    Key("home.page_down", "pagedown", "page(1)", about="A page down"),
    Key("home.page_up", "pageup", "page(-1)", about="A page up"),
    Key("home.inbox", "i", "go('inbox')", about="What waits for your word: pages and cards that you edited"),
    Key("home.quit", "q", "quit", "Quit", about="Leave retain"),
)
REVIEW = (
    Key("review.reveal", "space,enter", "reveal", "Answer", about="Show the answer; again: Good", group="Answer"),
    Key("review.again", "1", "rate(1)", about="Again: it was forgotten", group="Answer"),
    Key("review.hard", "2", "rate(2)", about="Hard: recalled with effort", group="Answer"),
    Key("review.good", "3", "rate(3)", about="Good: recalled", group="Answer"),
    Key("review.easy", "4", "rate(4)", about="Easy: at once", group="Answer"),
    Key("review.type", "t", "type", "Type", about="Write the answer first", group="Answer"),
    Key("review.undo", "u", "undo", "Undo", about="Take the last step back", group="Answer"),
    Key("review.source", "s", "source", "Source", about="The words it rests on", group="Look"),
    Key("review.article", "a", "article", "Article", about="The article of its concept", group="Look"),
    Key("review.insight", "i", "insight", "Write a thought", about="At the end: a thought of your own", group="Look"),
    Key("review.ahead", "l", "ahead", "Learn ahead", about="At the end: what is due by tomorrow", group="Answer"),
    Key("review.edit", "e", "edit", "Edit", about="Change its words here", group="Card"),
    Key("review.edit_outside", "E", "edit_outside", about="Change its words in your editor", group="Card"),
    Key("review.flag", "f", "flag", "Flag", about="Say what is wrong with it", group="Card"),
    Key("review.open", "o", "open", "Open", about="The source's web address", group="Look"),
    Key("review.picture", "v", "picture", "Picture", about="Its picture, in your viewer", group="Look"),
    Key("review.bury", "b", "bury", "Bury", about="Not today", group="Card"),
    Key("review.suspend", "x,exclamation_mark", "suspend", "Suspend", "x", about="Never, until resumed", group="Card"),
    Key("review.down", "down,j", "scroll(1)", about="Scroll down", group="Look"),
    Key("review.up", "up,k", "scroll(-1)", about="Scroll up", group="Look"),
    Key("review.page_down", "pagedown", "page(1)", about="A page down", group="Look"),
    Key("review.page_up", "pageup", "page(-1)", about="A page up", group="Look"),
    Key("review.home", "escape,q", "home", "Home", "esc", about="Home; all is saved", group="Card"),
)
# While an answer is typed, in the review as in a quiz.
TYPED = (
    Key("typed.done", "ctrl+s,ctrl+enter", "done", "Answer", "ctrl+s", "What you wrote is done", "Answer"),
    Key("typed.leave", "escape", "leave", "Don't type", "esc", "Go on without writing", "Answer"),
)
QUIZ = (  # not letters while one writes: these go into the answer
    Key("quiz.article", "ctrl+o", "article", "Article", about="Read the article the tutor points to", group="Look"),
    Key("quiz.end", "ctrl+n", "end", "End", about="What was right, and what was missing", group="Answer"),
    Key("quiz.review", "r", "review", "Review", about="At the end: its cards, now", group="Answer"),
    Key("quiz.leave", "escape,q", "leave", "Back", "esc", "Stop waiting; else back"),
)
EDIT = (  # not letters: these go into the card
    Key("edit.save", "ctrl+s", "save", "Save", "ctrl+s", about="Save the card"),
    Key("edit.back", "escape", "back", "Back", "esc", about="Leave; what is not saved is asked for once"),
)
PRACTISE = (
    Key("practise.start", "enter", "start", "Start", about="Begin"),
    Key("practise.mode", "m", "mode(1)", "How", about="Review, ahead, cram or preview"),
    Key("practise.more", "plus,equals_sign,right,l", "number(1)", "More", "+", about="More cards, or days"),
    Key("practise.fewer", "minus,left,h", "number(-1)", "Fewer", "-", about="Fewer cards, or days"),
    Key("practise.down", "j", "move(1)", about="Down"),
    Key("practise.up", "k", "move(-1)", about="Up"),
    Key("practise.back", "escape,q", "back", "Back", "esc", about="Home"),
)
STATS = (
    *(Key(f"stats.section_{n}", str(n), f"section({n})", about=name) for n, name in enumerate(SECTIONS, 1)),
    Key("stats.next", "right,l,tab", "turn(1)", "Next", "→", about="The next section"),
    Key("stats.previous", "left,h,shift+tab", "turn(-1)", "Previous", "←", about="The one before"),
    Key("stats.choose", "f", "choose", "Topic or tag", about="Only a topic's or a tag's cards"),
    Key("stats.down", "down,j", "scroll(1)", about="Scroll down"),
    Key("stats.up", "up,k", "scroll(-1)", about="Scroll up"),
    Key("stats.back", "escape,q", "back", "Back", "esc", about="Home"),
)
GAPS = (
    Key("gaps.article", "enter", "article", "Read", about="Open the article that mentions it", group="This gap"),
    Key("gaps.mention", "m", "article(1)", about="Open the next article that mentions it", group="This gap"),
    Key("gaps.plan", "p", "decide('plan')", "Plan", about="Mark it as one that you will read about", group="This gap"),
    Key("gaps.add", "plus,a", "add", "Add", "+", "Add a file or a web address that fills it", "This gap"),
    Key("gaps.query", "y", "query", "Copy query", about="Copy words to search the web for", group="This gap"),
    Key("gaps.resolve", "r", "decide('resolve')", "Resolve", about="It is settled", group="This gap"),
    Key("gaps.ignore", "i", "decide('ignore')", "Ignore", about="It is not wanted", group="This gap"),
    Key("gaps.card", "c", "card", about="Open the card that was forgotten most often", group="This gap"),
    Key("gaps.undo", "u", "undo", "Undo", about="Take the last decision back, and the one before", group="This gap"),
    Key("gaps.find", "slash", "find", "Find", "/", "Only gaps with these words", "The list", writes=True),
    Key("gaps.all", "0", "kind('')", about="Gaps of all kinds", group="The list"),
    Key("gaps.structural", "1", "kind('structural')", about="Only what no source explains", group="The list"),
    Key("gaps.epistemic", "2", "kind('epistemic')", about="Only what the wiki cannot answer", group="The list"),
    Key("gaps.learner", "3", "kind('learner')", about="Only what keeps being forgotten", group="The list"),
    Key("gaps.settled", "s", "settled", "Settled", about="Settled and ignored gaps too, or not", group="The list"),
    Key("gaps.down", "j", "move(1)", about="Down", group="The list"),
    Key("gaps.up", "k", "move(-1)", about="Up", group="The list"),
    Key("gaps.back", "escape,q", "back", "Back", "esc"),
)
INBOX = (
    Key("inbox.accept", "a", "accept", "Accept", about="Take the proposal in place of yours", group="This one"),
    Key("inbox.keep", "m", "keep", "Keep mine", about="Yours stays; this is not proposed again", group="This one"),
    Key("inbox.reject", "r", "reject", "Reject", "r", "Yours stays, and say why", "This one", writes=True),
    Key("inbox.undo", "u", "undo", "Undo", about="Take the last decision back, and the one before", group="This one"),
    Key("inbox.open", "enter,o", "open", "Open", about="Open yours: the page, or the card", group="This one"),
    Key("inbox.on", "space,right,l", "scroll(1)", about="On in the differences", group="Look"),
    Key("inbox.before", "b,left,h", "scroll(-1)", about="Back in the differences", group="Look"),
    Key("inbox.down", "j", "move(1)", about="Down", group="Look"),
    Key("inbox.up", "k", "move(-1)", about="Up", group="Look"),
    Key("inbox.back", "escape,q", "back", "Back", "esc"),
)
FIRST_RUN = (
    Key("first.choose", "enter", "choose", "Choose", about="Choose what is marked"),
    Key("first.new", "1", "take('new')", about="Make a vault"),
    Key("first.example", "2", "take('example')", about="Try the example"),
    Key("first.adopt", "3", "take('adopt')", about="Use the folder you are in"),
    Key("first.again", "r", "again", "Look again", about="See whether it can be opened now"),
    Key("first.down", "j", "move(1)", about="Down"),
    Key("first.up", "k", "move(-1)", about="Up"),
    Key("first.back", "escape", "back", "Back", "esc", about="Back to the choice; ends what is being done"),
    Key("first.quit", "q", "quit", "Quit", about="Leave; nothing is left undone"),
)
ARTICLE = (
    Key("article.next_link", "tab", "link(1)", "Links", about="To the next link", group="Links"),
    Key("article.last_link", "shift+tab", "link(-1)", about="To the link before", group="Links"),
    Key("article.follow", "enter", "follow", "Follow", about="Follow it: a quote, a page, an address", group="Links"),
    Key("article.before", "left_square_bracket", "before", "Back", "[", "The page before", "Links"),
    Key("article.after", "right_square_bracket", "after", "On", "]", "The page after", "Links"),
    Key("article.aside", "n", "aside", "Around", about="How it stands: mastery, gaps, links here", group="Page"),
    Key("article.insight", "i", "insight", "Insight", about="Write what you think of it, in your editor", group="Page"),
    Key("article.review", "r", "review", "Review", about="Review its cards that are due or new", group="Page"),
    Key("article.find", "slash", "find", "Find", "/", "Find words in the page; enter: further", "Page", writes=True),
    Key("article.index", "g", "index", "Pages", about="All pages of the wiki", group="Page"),
    Key("article.down", "down,j", "scroll(1)", about="Scroll down", group="Page"),
    Key("article.up", "up,k", "scroll(-1)", about="Scroll up", group="Page"),
    Key("article.page_down", "pagedown,space", "page(1)", about="A page down", group="Page"),
    Key("article.page_up", "pageup,b", "page(-1)", about="A page up", group="Page"),
    Key("article.top", "home", "end(0)", about="To the top", group="Page"),
    Key("article.bottom", "end,G", "end(1)", about="To the end", group="Page"),
    Key("article.back", "escape,q", "back", "Close", "esc", about="To where you came from", group="Page"),
)
WORK = (
    Key("work.choose", "enter", "choose", "Begin", about="Begin what is chosen"),
    Key("work.cancel", "c", "cancel", "Cancel", about="Ask the work to end; what it has saved stays"),
    Key("work.home", "h", "leave", "Go on meanwhile", about="Leave the work to itself and go on"),
    Key("work.review", "r", "result('review')", "Review", about="Review what was made"),
    Key("work.gaps", "g", "result('gaps')", "Gaps", about="See what is missing"),
    Key("work.compile", "m", "compile", "Compile", about="Make articles and cards of what was added"),
    Key("work.again", "n", "menu", "Other work", about="Choose other work"),
    Key("work.down", "j", "move(1)", about="Down"),
    Key("work.up", "k", "move(-1)", about="Up"),
    Key("work.back", "escape,q", "back", "Back", "esc"),
)
BROWSE = (
    Key("browse.open", "enter", "open", "Open", about="The whole card with its past, or the article", group="Look"),
    Key("browse.search", "slash", "search", "Search", "/", "Write what to look for", "Find", writes=True),
    Key("browse.mark", "space", "mark", "Choose", about="Choose this one too, or no longer", group="Choose"),
    Key("browse.suspend", "x,exclamation_mark", "suspend", "Suspend", "x", "Suspend; once more: resume", "Cards"),
    Key("browse.tag", "T", "ask('tag')", "Tag", about="Give a tag, or take one away", group="Cards"),
    Key("browse.reschedule", "d", "ask('reschedule')", "Day", about="Have them due on another day", group="Cards"),
    Key("browse.sort", "o", "sort", "Sort", about="Choose the order", group="Find"),
    Key("browse.scope", "c", "scope", about="Cards, articles or both", group="Find"),
    Key("browse.undo", "u", "undo", "Undo", about="Take the last deed back, on all its cards", group="Cards"),
    Key("browse.bury", "b", "bury", about="Not today", group="Cards"),
    Key("browse.flag", "f", "ask('flag')", about="Say that something is wrong", group="Cards"),
    Key("browse.edit", "e", "edit", about="Change its words here", group="Cards"),
    Key("browse.editor", "E", "edit_outside", about="Change its words in your editor", group="Cards"),
    Key("browse.article", "a", "article", about="The article of its concept", group="Look"),
    Key("browse.all", "ctrl+a", "all", about="Choose all that is found, or none", group="Choose"),
    Key("browse.extend_up", "shift+up", "extend(-1)", about="Choose upwards", group="Choose"),
    Key("browse.extend_down", "shift+down", "extend(1)", about="Choose downwards", group="Choose"),
    Key("browse.switch", "tab,shift+tab", "switch", about="From the search to the list and back", group="Find"),
    Key("browse.down", "down,j", "move(1)", about="Down", group="Look"),
    Key("browse.up", "up,k", "move(-1)", about="Up", group="Look"),
    Key("browse.page_down", "pagedown", "page(1)", about="A page down", group="Look"),
    Key("browse.page_up", "pageup", "page(-1)", about="A page up", group="Look"),
    Key("browse.first", "home", "end(-1)", about="The first", group="Look"),
    Key("browse.last", "end", "end(1)", about="The last", group="Look"),
    Key("browse.back", "escape,q", "back", "Back", "esc"),
)
# These work on every screen, whatever is being typed there ...
APP = (
    Key("app.theme", "ctrl+t", "toggle_dark", about="Change between light and dark"),
    Key("app.interrupt", "ctrl+c", "interrupt", about="Copy what is selected; else leave at once, with nothing lost"),
)
# ... and these wherever the key is not a letter of what is being typed.
ANYWHERE = (Key("app.help", "question_mark,f1", "help", "Help", "?", "Show the keys of this screen"),)
# Not shown at the foot: whoever knows it from a shell presses it.
SHELL = (Key("app.stop", "ctrl+z", "suspend_process", about="Stop for now, as in a shell; fg comes back"),)
EVERYWHERE = (*APP, *ANYWHERE, *SHELL)
HELP = (  # on top of a screen, whose keys rest meanwhile
    Key("help.close", "escape,q,enter,space", "close", "Close", "esc"),
    Key("help.down", "down,j", "scroll(1)"),
    Key("help.up", "up,k", "scroll(-1)"),
    Key("help.page_down", "pagedown", "scroll(10)"),
    Key("help.page_up", "pageup", "scroll(-10)"),
)
SETTINGS = (
    Key("settings.more", "right,plus,l", "step(1)", "More", "→", "The next value"),
    Key("settings.less", "left,minus,h", "step(-1)", "Less", "←", "The value before"),
    Key("settings.edit", "enter", "edit", about="Type a value"),
    Key("settings.default", "d,delete", "default", "Default", about="As a newcomer has it"),
    Key("settings.undo", "u", "undo", "Undo", about="Take the last change back"),
    Key("settings.back", "escape,q", "back", "Back", "esc", "Home"),
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
    "work": WORK,
    "first": FIRST_RUN,
    "browse": BROWSE,
    "settings": SETTINGS,
    "article": ARTICLE,
    "quiz": QUIZ,
}


def bindings(keys: Iterable[Key], *, priority: bool = False) -> list[Binding]:
    """The keys as Textual binds them, each under its id, so that a keymap may move it."""
    return [
        Binding(
            key.keys,
            key.action,
            key.words,
            show=False,
            key_display=key.display,
            id=key.id,
            priority=priority or key.writes,
        )
        for key in keys
    ]
