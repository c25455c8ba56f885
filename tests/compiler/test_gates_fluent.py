"""The gates on text as people write it: formulas, short forms, near-verbatim words, passives and translations."""

from collections.abc import Sequence

import pytest

from compiler.gates.entailment import judge
from compiler.gates.gates import CheckedCardGate, VaultCardGate
from compiler.language.detection import sentence_language
from compiler.language.formulas import plain_formulas
from compiler.model.requests import ClaimView, ProposedCard
from vault.model.claim import ClaimKind


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r"such as $-10^{6}$, in", "such as -10^6, in"),
        (r"norms $\mathbf{k}_{i}$ and $\textrm{softmax}(x)$", "norms k_i and softmax(x)"),
        ("O(n²), the 𝑡-th of ℝ", "O(n^2), the t-th of R"),
        ("between $-1$ and $1$, we", "between -1 and 1, we"),
        ("from $5 to $6 a day", "from $5 to $6 a day"),
        ("US$5 and $10", "US$5 and $10"),
        ("Word™ costs nothing", "Word™ costs nothing"),
    ],
)
def test_a_formula_is_read_out_and_money_stays_money(text: str, read: str) -> None:
    assert plain_formulas(text) == read
    assert plain_formulas(read) == read


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("The model is trained on data.", "en"),
        ("Das Modell wird mit Daten trainiert.", "de"),
        ("große Sprachmodelle", "de"),
        ("模型（attention pooling）用数据训练。", "zh"),
        ("The word 龙 is Chinese.", "en"),
        ("GPT-3", ""),
    ],
)
def test_the_language_of_a_text_is_told_by_its_small_words_and_letters(text: str, spoken: str) -> None:
    assert sentence_language(text) == spoken


@pytest.mark.parametrize(
    ("words", "evidence"),
    [
        ("The weights are large, such as -10^6.", "The weights are large, such as $-10^{6}$."),
        ("The fact is that the weight is large.", "The fact is that the weight $w$ is large."),
        ("A hook is a function that doesn't exist.", "A hook is a function that doesn’t exist."),
        ("It can select elements and construct a sum.", "It can select elements and to construct a sum."),
        ("They are reshaped according to the shape.", "They are reshaped according the shape."),
        ("Reformer and Routing cluster tokens.", "Reformer (Stone et al. 2020) and Routing [23] cluster tokens."),
        ("The pump is fast; the valve is slow.", "The pump is fast. The valve is slow."),
        ("XLA is a compiler that saves memory.", "XLA: a compiler that saves memory."),
    ],
)
def test_near_verbatim_words_need_no_check(words: str, evidence: str) -> None:
    assert judge(words, [evidence]).passes


@pytest.mark.parametrize(
    ("words", "evidence"),
    [
        ("The pump is safe for children.", "The pump is safe (except at night) for children."),
        ("The pump is safe for children.", "The pump is (not always) safe for children."),
        ("The pump is safe for children.", "The pump that heats is safe, but not for children."),
        ("The dog chased the cat and ran away.", "The dog chased the cat. It ran away."),
        ("The men gave the dog the cat.", "The men gave the dog to the cat."),
        ("Pumps which leak are sold.", "Pumps that are sold leak."),
    ],
)
def test_words_that_leave_out_what_turns_a_saying_do_not_pass_unchecked(words: str, evidence: str) -> None:
    assert not judge(words, [evidence]).passes


@pytest.mark.parametrize(
    ("words", "evidence"),
    [
        ("RNNs read the words.", "An RNN reads each word."),
        ("NTMs have external memory.", "Neural Turing Machines have external memory."),
        ("LSH groups keys that are alike.", "Locality-sensitive hashing groups similar keys."),
        ("A KV cache stores them.", "The cache stores the key and value vectors."),
        ("LM loss is measured.", "The language model loss is measured."),
        ("TensorProto messages hold weights.", "The weights are held in tensor proto messages."),
        ("Query KV pairs are read.", "The query reads KV pairs."),
        ("Whereas Keras pads, Flux pools.", "Flux pools, but Keras pads."),
    ],
)
def test_short_forms_plurals_and_plain_words_at_a_start_name_nothing_new(words: str, evidence: str) -> None:
    assert not judge(words, [evidence]).refused


@pytest.mark.parametrize(
    ("words", "evidence", "why"),
    [
        ("UK firms grew.", "unknown kinds of firms grew", "the evidence does not name UK"),
        ("The MLP stores keys.", "The MHA stores keys.", "the evidence does not name MLP"),
        ("It takes O(n^3) steps.", "It takes O(n²) steps.", "the evidence does not say n^3"),
        ("The weights are -10^7.", "The weights are $-10^{6}$.", "the evidence does not say -10^7"),
    ],
)
def test_other_short_forms_and_powers_are_refused(words: str, evidence: str, why: str) -> None:
    assert judge(words, [evidence]).refused == why


@pytest.mark.parametrize(
    ("words", "evidence"),
    [
        (
            "DSA is a fine-grained attention mechanism.",
            "With DSA, a fine-grained attention mechanism, speed is gained.",
        ),
        ("MLA is clever trick to reduce memory use.", "MLA is a clever trick to reduce memory use."),
        ("The design is inspired by the old mill.", "a design inspired by the old mill"),
        ("The context is sent to the decoder by the encoder.", "The encoder sends the context to the decoder."),
        ("The network is fed the outputs.", "The outputs are fed to the network."),
        ("After reading the whole input sequence.", "After reading the whole input sequence, the encoder stops."),
    ],
)
def test_words_in_another_voice_or_order_that_say_the_same_are_not_swapped(words: str, evidence: str) -> None:
    assert not judge(words, [evidence]).refused


@pytest.mark.parametrize(
    ("words", "evidence"),
    [
        ("The cat is chased by the mouse.", "The cat chased the mouse."),
        ("The decoder sends the context to the encoder.", "The encoder sends the context to the decoder."),
        ("The old mill was inspired by the design.", "The design was inspired by the old mill."),
    ],
)
def test_words_with_their_sides_swapped_stay_refused(words: str, evidence: str) -> None:
    assert judge(words, [evidence]).refused == "the evidence says it with the sides swapped"


@pytest.mark.parametrize(
    ("words", "evidence"),
    [
        ("Positions can be learned or fixed.", "位置编码可以通过学习得到也可以直接固定得到。"),
        ("The RNNs read one word after the other.", "循环神经网络逐个地处理词元。"),
        ("It was proposed by Turing in 1950.", "图灵在1950年提出了它。"),
        ("Only the decoder cannot look ahead.", "Der Decoder kann nur die Wörter davor berücksichtigen."),
        ("Zufällige Wörter werden verdeckt.", "The training is about masking random words."),
        ("Große Sprachmodelle brauchen viel Speicher.", "Large language models are in need of memory."),
        ("模型用数据训练。", "The model is trained on data."),
    ],
)
def test_a_translation_is_for_the_check(words: str, evidence: str) -> None:
    judgement = judge(words, [evidence])
    assert judgement.needs_check, judgement


@pytest.mark.parametrize(
    ("words", "evidence"),
    [
        ("It was published in June 2018.", "Sie wurde im Juni 2017 veröffentlicht."),
        ("It is 40% faster.", "Sie ist 60 % schneller."),
        ("There are 30 words in the sentence.", "句子有20个词。"),
        ("GPT-2 is the larger one.", "GPT-3 ist eine größere Version."),
        ("The LSTM is the larger one.", "RNN是更大的模型。"),
    ],
)
def test_numbers_dates_and_short_forms_hold_in_translations_too(words: str, evidence: str) -> None:
    assert judge(words, [evidence]).refused


def test_words_of_the_evidences_own_language_still_need_something_in_common_with_it() -> None:
    words, why = "Bananas grow in the warm lands.", "the quote does not support it"
    assert judge(words, ["The encoder reads the input."]).refused == why
    assert judge(words, ["位置编码可以固定得到。", "The encoder reads the input."]).refused == why


def test_a_card_that_a_build_lets_in_is_let_in_by_verify() -> None:
    quote = (
        "The RNN decoder generates the output token by token, based on the generated tokens and the context variable."
    )
    claim = ClaimView(id="vfm8hsq7kp", kind=ClaimKind.MECHANISM, words=quote, quote=quote, source="")
    card = ProposedCard(
        kind="mechanistic",
        question="On what does an RNN decoder base the next token, besides the tokens already generated?",
        answer="On the context variable.",
        cites=(claim.id,),
    )

    def yes(words: str, evidence: Sequence[str]) -> bool:
        return True

    assert CheckedCardGate(entailed=yes).refused(card, "Context variable", {claim.id: claim}) == ""
    assert VaultCardGate(entailed=yes).refused(card, "Context variable", {claim.id: claim}) == ""
