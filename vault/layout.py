"""The paths of files and folders in a vault, relative to its root."""

FLASHCARDS = "learning/flashcards"
REVIEW_PAGE = "learning/_review.md"
GAPS = "learning/gaps.md"
READING_LIST = "learning/reading-list.md"
SUMMARIES = "wiki/summaries"
CONCEPTS = "wiki/concepts"
TOPICS = "wiki/topics"
ANSWERS = "wiki/answers"
PROPOSALS = "output/proposals"
PROMOTION_QUEUE = "output/promotion-queue.md"
SUGGESTIONS = ".retain/cache/suggestions.json"

# What the pages in `ANSWERS` are by their property `type`; they have `inferred: true`, and nothing may rest on them.
INFERRED_TYPES = ("synthesis", "comparison")
