"""The paths of files and folders in a vault, relative to its root."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


FLASHCARDS = "learning/flashcards"


REVIEW_PAGE = "learning/_review.md"


GAPS = "learning/gaps.md"


READING_LIST = "learning/reading-list.md"


SUMMARIES = "wiki/summaries"


CONCEPTS = "wiki/concepts"


TOPICS = "wiki/topics"


PROPOSALS = "output/proposals"


PROMOTION_QUEUE = "output/promotion-queue.md"
