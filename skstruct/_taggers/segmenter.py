"""Word segmentation of raw text through any sequence tagger.

A segmented text is one label per character (N. Xue, "Chinese word segmentation as
character tagging", 2003). What happens to the strings at both ends is in
`skstruct._data.segmented`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._data.inputs import WORDS, Inputs, Sequences, flatten, renumbered, take
from .._data.partial_words import PartialWords, labels_of_stretches
from .._data.scheme_rules import LabelTable
from .._data.schemes import check_scheme, spell_words
from .._data.segmented import (
    KnownWords,
    as_dictionary,
    as_known_words,
    as_pieces,
    as_tag_dictionary,
    cut,
    label_options,
    with_characters,
    with_tags_of,
)
from .._data.types import Corpus, Given, Self, Texts, Weights
from .._saving.registry import savable
from .._sklearn import sample_weights, with_callbacks
from .._training.held_out import GivenPieces
from .._training.parameters import documented, inner_estimator, parameter, parametrized
from ..features.contexts import find_words
from ..metrics.checks import f1
from ..metrics.counting import refuse_nothing
from ..metrics.text_scores import NO_WORDS, word_spans
from .default_tagger import OF_CHARACTERS, default_learner, default_tagger
from .inner_tagger import TaggerData, TaggerTraining
from .meta_learner import inside_has
from .text_probabilities import WordAnalyses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._data.segmented import Tags


@savable
@documented()
@parametrized()
class Segmenter(WordAnalyses, TaggerTraining):
    """Raw text in, words out: segmentation with any sequence tagger over characters.

    The tagger labels each character with its place in a word [1]_. Trained on (word,
    tag) pairs instead of words it segments and tags jointly [2]_: labels are then such
    as ``B-NN``, and predictions are pairs too.

    Attributes
    ----------
    tagger_ : estimator
        The fitted tagger.
    tagged_ : bool
        Whether words have tags.
    history_ : list of dict
        That of ``tagger_``, if it has one.
    n_iter_ : int
        Epochs of ``tagger_``, if it counts them.

    Notes
    -----
    White space, that is what ``str.split`` splits at, separates words and belongs to
    none: the words of a text spell it without its white space, ``"".join(words) ==
    "".join(text.split())``, and no word reaches over white space. The tagger does not
    see it either; it reads a text as one sequence with the white space left out. In
    prediction, a tagger that says ``accepts_allowed = True`` and has ``classes_``
    (those of this package, alone or in an averager or a mixer) is given ``allowed``,
    and searches among the labellings that have a boundary there; another's labels are
    simply cut there.

    Any sequence of labels is cut into words, well formed or not, as by
    `skstruct.schemes.labels_to_words`.

    Every ``fit`` begins with a clone of ``tagger``, whose ``warm_start`` is refused;
    ``partial_fit`` continues: all words with tags or all without, over all
    calls. Parameters that are set after ``fit`` are for the next one: until then,
    another ``scheme`` is an error.

    References
    ----------
    .. [1] N. Xue (2003). Chinese word segmentation as character tagging.
       Computational Linguistics and Chinese Language Processing 8(1).
    .. [2] H. T. Ng and J. K. Low (2004). Chinese part-of-speech tagging: one-at-a-time
       or all-at-once? Word-based or character-based? EMNLP.

    Examples
    --------
    >>> from skstruct import Segmenter, StructuredPerceptron
    >>> from skstruct.datasets import load_segmentation
    >>> X, y = load_segmentation()
    >>> segmenter = Segmenter(StructuredPerceptron(features="char", random_state=0)).fit(X, y)
    >>> segmenter.predict(["他在北京大学图书馆看书。"])
    [['他', '在', '北京', '大学', '图书馆', '看', '书', '。']]
    >>> segmenter.score(X, y) > 0.99
    True
    """

    accepts_dictionary = True
    """``predict`` takes ``dictionary``."""

    tagger: Any = inner_estimator(
        """Learns and predicts labels of characters. None means an average of
        perceptrons with input dropout,
        ``BaggingShuffleAverager(StructuredPerceptron("char-types", dropout=0.1,
        max_iter="auto"), n_estimators="auto", random_state=0)``: ten members of twenty
        epochs below 200 sequences, ten of ten below 500, then five, from 10,000 on
        three. It takes three to seven times the processor time of
        ``StructuredPerceptron("char")``, 7 to 20 times below 500, for 6 points of F1
        more with 50 sentences, 3 with 200, 2 with 1,000 and 1 with thousands. Where
        taggers are mixed it is the perceptron in it."""
    )
    scheme: Literal["BMES", "BI", "B2B3MES"] = parameter(
        default="BMES",
        text="How words are written as labels; see `skstruct.schemes`.",
    )

    tagged_: bool = field(init=False)

    explained_as = "segmenter"

    _reads_later = ("scheme",)

    inputs = Inputs(WORDS, str, 1)
    """The input and output of the fitted model."""

    # -- fitting -----------------------------------------------------------------------
    @with_callbacks
    def fit(
        self,
        X: Texts,
        y: Corpus,
        sample_weight: Weights = None,
        *,
        X_val: Given = None,
        y_val: Given = None,
        **params: Any,
    ) -> Self:
        """Learn from segmented texts.

        Parameters
        ----------
        X : list of str
            Texts; empty ones are ignored.
        y : list of lists of str, or of (str, str)
            The words of each text, which spell it, or words with their tags;
            :class:`PartialWords` where only some boundaries are known.
        sample_weight : array-like of shape (n_texts,), optional
            Handed to the tagger.
        X_val, y_val : list of str and list of lists, optional
            Held-out texts and their words, handed to the tagger as characters and
            labels: what it scores is labels, with its own ``scoring``.
        **params
            Metadata that the tagger asks for, with scikit-learn's metadata routing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described; the message names sequence and position.
            The segmenter is then as it was before.
        KeyboardInterrupt
            After Ctrl-C; what the tagger kept can be used.
        """
        return self._fit_tagger(X, y, sample_weight, X_val, y_val, params)

    @classmethod
    def _default(cls) -> Any:
        return default_tagger(features=OF_CHARACTERS)

    @classmethod
    def _default_learner(cls) -> Any:
        return default_learner(features=OF_CHARACTERS)

    def _sequences(self, X: Texts) -> list[list[str]]:
        """Return what the tagger sees of texts."""
        self._check_settings()
        return [list("".join(parts)) for parts in as_pieces(X)]

    def _training_data(self, X: Texts, y: Corpus, go_on: bool = False) -> TaggerData:
        pieces = as_pieces(X)
        known = as_known_words(pieces, y)
        if go_on and known.tags is None and not any(known.words):
            # What is partly segmented needs not say that words have tags.
            empty: list[list[str]] | None = [[] for _ in pieces]
            known = known._replace(tags=empty if getattr(self, "tagged_", 0) else None)
        keep = with_characters(pieces)
        tagged = known.tags is not None
        if go_on and tagged != getattr(self, "tagged_", tagged):
            kinds = "words", "(word, tag) pairs"
            raise ValueError(
                f"y: expected {kinds[not tagged]} as in earlier calls, got "
                f"{kinds[tagged]}"
            )
        return TaggerData(
            *self._labelled(pieces, known, keep, go_on), keep, {"tagged_": tagged}
        )

    def _labelled(
        self,
        pieces: list[list[str]],
        known: KnownWords,
        keep: Sequence[int],
        go_on: bool = False,
    ) -> tuple[list[list[str]], list[list[Any]]]:
        """Return the characters of some of the texts, with their labels for the tagger."""
        scheme = check_scheme(self.scheme)
        words, tags, stretches = known
        every = self._all_tags(known, go_on) if stretches else None
        labels = [
            labels_of_stretches(stretches[i], scheme, every)
            if i in stretches
            else spell_words(words[i], scheme, None if tags is None else tags[i])
            for i in keep
        ]
        return [list("".join(pieces[i])) for i in keep], labels

    def _all_tags(self, known: KnownWords, go_on: bool) -> list[str] | None:
        """Return the possible tags of a word whose tag is not known; None without tags."""
        if known.tags is None:
            return None
        found = set(flatten(known.tags))
        for each in flatten(list(known.stretches.values())):
            found |= each.tags or frozenset()
        if go_on and hasattr(self, "tagger_"):
            found |= self._tags_of_model()
        return sorted(found)

    def _held_out_data(self, X: Texts, y: Corpus) -> GivenPieces:
        pieces = as_pieces(X)
        with_characters(pieces)
        known = as_known_words(pieces, y)
        # Empty texts stay, for places in errors.
        every = range(len(pieces))
        return GivenPieces(*self._labelled(pieces, known, every), every)

    def _agreed(self, known: list[dict[str, Any]]) -> dict[str, Any]:
        tagged = [each["tagged_"] for each in known]
        if len(set(tagged)) > 1:
            raise ValueError(
                f"shard {tagged.index(True)} has (word, tag) pairs, shard "
                f"{tagged.index(False)} words alone"
            )
        return known[0]

    # -- prediction --------------------------------------------------------------------
    @inside_has("adapt")
    def adapt(self, X: Texts | None) -> Self:
        """Count accessor varieties anew, on texts of the domain to be segmented.

        Parameters
        ----------
        X : list of str, or None
            Texts, not segmented. Their statistics, and theirs alone, are in force until
            the next ``fit``; None goes back to those of the training texts. White space
            does not count.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the tagger's templates read no accessor variety (``features="char-av"``
            do), or ``X`` holds no character or is no list of str; if the tagger is
            frozen.

        See Also
        --------
        StructuredPerceptron.adapt : what it does, and its source.
        """
        check_is_fitted(self)
        self._refuse_frozen("adapt")
        sequences = None
        if X is not None:
            pieces = as_pieces(X)
            sequences = [list("".join(pieces[i])) for i in with_characters(pieces)]
        self.tagger_.adapt(sequences)
        return self

    def predict(
        self, X: Texts, dictionary: Collection[str] | None = None
    ) -> list[list[Any]]:
        """Words.

        Parameters
        ----------
        X : list of str
            Texts.
        dictionary : collection of str, optional
            Words to be found as such, with no training: where a text holds one, it
            becomes a word. From left to right the longest word that begins at a
            character is taken and the search goes on behind it, so that the first of
            two words that overlap wins. The tagger finds the best labelling of the rest
            around them, and the tags of the joint task. A mapping says which tags a
            word may have: one, a collection of them, or None for any.

        Returns
        -------
        list of lists of str, or of (str, str)
            The words of each text, in order, or words with tags if it was trained on
            such; [] for a text that is empty or white space.

        Raises
        ------
        ValueError
            If ``X`` is not a list of str, the message names the sequence; or the
            dictionary holds what is no word, or white space, or a tag that the model
            does not know.
        """
        n, filled, texts, marks, tags = self._read(X, dictionary)
        result = Sequences([] for _ in range(n))
        if filled:
            with renumbered(filled):
                labels = self._labels(texts, marks, tags)
            found = cut(texts, labels, self.scheme, self.tagged_, marks)
            for i, words in zip(filled, found):
                result[i] = with_tags_of(words, tags) if tags else words
        return result

    def _read(
        self, X: Texts, dictionary: Collection[str] | None
    ) -> tuple[int, list[int], list[list[str]], np.ndarray | None, Tags]:
        """Read texts.

        Returns
        -------
        n : int
            Texts.
        filled : list of int
            Positions of those that are not empty.
        pieces : list of lists of str
            Of these, cut at white space.
        marks : ndarray or None
            Words of the dictionary in these.
        tags : dict
            Those that words of the dictionary may have.
        """
        check_is_fitted(self)
        self._check_settings()
        pieces = as_pieces(X)
        tags: Tags = {}
        if isinstance(dictionary, Mapping):
            known_tags = self._tags_of_model() if self.tagged_ else ()
            tags = as_tag_dictionary(dictionary, known_tags)
            dictionary = list(dictionary)
        known = None if dictionary is None else as_dictionary(dictionary)
        filled = [i for i, parts in enumerate(pieces) if parts]
        texts = take(pieces, filled)
        return (
            len(pieces),
            filled,
            texts,
            find_words(texts, known) if known and filled else None,
            tags,
        )

    def _tags_of_model(self) -> set[str]:
        """Return the tags in the labels of the fitted tagger."""
        classes = np.asarray(self.tagger_.classes_).tolist()
        return {kind for _, kind in LabelTable(self.scheme).parse(classes)} - {""}

    def _labels(
        self,
        pieces: list[list[str]],
        marks: np.ndarray | None = None,
        tags: Tags | None = None,
    ) -> list[Any]:
        """Return what the tagger says about texts that are not empty, words of a
        dictionary in them marked.
        """
        texts = ["".join(parts) for parts in pieces]
        labels = self.tagger_.predict(
            list(map(list, texts)), **self._constraints(pieces, marks, tags)
        )
        if list(map(len, labels)) != list(map(len, texts)):
            raise ValueError(
                "the tagger must predict one label for each character of each text"
            )
        return labels

    def _constraints(
        self,
        pieces: list[list[str]],
        marks: np.ndarray | None = None,
        tags: Tags | None = None,
    ) -> dict[str, Any]:
        """Return the keyword arguments that restrict the tagger's search by white space
        and a dictionary.
        """
        if not getattr(self.tagger_, "accepts_allowed", False):
            return {}
        allowed = label_options(
            pieces,
            np.asarray(self.tagger_.classes_).tolist(),
            self.scheme,
            marks,
            tags,
        )
        return {} if allowed is None else {"allowed": allowed}

    def score(self, X: Texts, y: Corpus, sample_weight: Weights = None) -> float:
        """F1 of the words; of words with their tags if both the model and ``y`` have
        tags.

        Parameters
        ----------
        X : list of str
        y : list of lists of str, or of (str, str)
            Of :class:`PartialWords` the words count whose boundaries are known.
        sample_weight : array-like of shape (n_texts,), optional
            Multiplies the counts of a text's words.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        pieces = as_pieces(X)
        words, tags, stretches = as_known_words(pieces, y)
        truth: list[Any] = (
            words if tags is None else [list(zip(*pair)) for pair in zip(words, tags)]
        )
        for i, found in stretches.items():
            truth[i] = PartialWords((" ".join(s.parts), s.tags) for s in found)
        weight = sample_weights(sample_weight, pieces)
        spans = word_spans(truth, self.predict(X), None)
        of_texts = [
            (len(set(true).intersection(found)), len(true) + len(found))
            for _, true, found in spans
        ]
        counts = np.array(of_texts, float).reshape(-1, 2)
        correct, total = counts.sum(axis=0) if weight is None else weight @ counts
        refuse_nothing(total, NO_WORDS)
        return f1(correct, total, 0)
