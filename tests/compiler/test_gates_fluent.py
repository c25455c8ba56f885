"""The rules on text as people write it: formulas, short forms and translations."""

import pytest

from compiler.gates.written import card_fault, known_names, sentence_fault
from compiler.language.detection import sentence_language
from compiler.language.formulas import plain_formulas
from compiler.model.requests import ProposedCard


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r"such as $-10^{6}$, in", "such as -10^6, in"),
        (r"norms $\mathbf{k}_{i}$ and $\textrm{softmax}(x)$", "norms k_i and softmax(x)"),
        (r"all $50{,}176$ of them", "all 50,176 of them"),
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
        ("RNNs read the words.", "An RNN reads each word."),
        ("NTMs have external memory.", "Neural Turing Machines have external memory."),
        ("LSH groups keys that are alike.", "Locality-sensitive hashing groups similar keys."),
        ("A KV cache stores them.", "The cache stores the key and value vectors."),
        ("LM loss is measured.", "The language model loss is measured."),
        ("TensorProto messages hold weights.", "The weights are held in tensor proto messages."),
        ("Query KV pairs are read.", "The query reads KV pairs."),
        ("It ends with <END>, as it has to.", "The last token is the <END> token."),
        ("Answer | Where the card goes", "The answer says where the card goes."),
        ("Go back to step 3 until it is full.", "This is repeated until it is full."),
        ("Whereas Keras pads, Flux pools.", "Flux pools, but Keras pads."),
    ],
)
def test_short_forms_plurals_and_plain_words_at_a_start_name_nothing_new(words: str, evidence: str) -> None:
    assert sentence_fault(words, "", [evidence], known_names([evidence])) == ""


@pytest.mark.parametrize(
    ("words", "evidence", "why"),
    [
        ("Elon Newton invented the ring.", "Newton invented the ring.", "do not mention Elon"),
        ("UK firms grew.", "unknown kinds of firms grew", "do not mention UK"),
        ("The MLP stores keys.", "The MHA stores keys.", "do not mention MLP"),
        ("It takes O(n^3) steps.", "It takes O(n²) steps.", "do not contain n^3"),
        ("The weights are -10^7.", "The weights are $-10^{6}$.", "do not contain -10^7"),
    ],
)
def test_other_short_forms_and_powers_are_refused(words: str, evidence: str, why: str) -> None:
    assert why in sentence_fault(words, "", [evidence], known_names([evidence]))


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
def test_a_translation_that_is_true_passes(words: str, evidence: str) -> None:
    assert sentence_fault(words, "", [evidence], known_names([evidence])) == ""


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
    assert sentence_fault(words, "", [evidence], known_names([evidence]))


@pytest.mark.parametrize(("count", "right"), [("two", True), ("40", False)])
def test_a_question_may_count_what_it_asks_for(count: str, right: bool) -> None:
    said = "There are three stages of learning: the cognitive, the associative and the autonomous one."
    question = f"At which {count} stages does a learner still make errors?"
    card = ProposedCard(kind="relational", question=question, answer="The cognitive and the associative.", cites=())
    assert (card_fault(card, [said], known_names([said])) == "") == right
