"""Labels of a corpus, or spans of texts, that are probably wrong.

Those say so who did not see them: models that were trained on other sequences. How
probable an error is follows from how sure these models are elsewhere, see
`skstruct.inspection.chances`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from sklearn.base import clone

from .._data.types import Corpus
from .._sklearn import final_step
from .._taggers.span_chains import BY_TYPE, parts_by_type
from .._training.parameters import parameters_named
from .findings import Finding, Findings, Places, as_places
from .judging import (
    in_tokens,
    judge_sentences,
    judge_texts,
    judged_out_of_fold,
    segment_scheme,
)
from .out_of_fold import predicted_out_of_fold
from .span_issues import issues_of_spans
from .token_issues import issues_of_labels


def label_issues(
    estimator: Any,
    X: Any,
    y: Corpus,
    *,
    cv: Any = 5,
    groups: Any = None,
    n_jobs: int | None = None,
    places: Places = None,
) -> Findings:
    """Find labels of a corpus that are probably wrong.

    Every label is compared with the probabilities that a model gives which was not
    trained on its sequence [1]_. Where another label is more probable, the label is a
    finding. Of each the list says how probable an error is: models are sure of much
    that they have not seen, so that errors which are planted on paper tell what the
    same certainty is worth [2]_. The sum over a list is the number of errors to expect
    in it.

    Parameters
    ----------
    estimator : estimator
        As of :func:`out_of_fold_marginals`.
    X, y
        As of its ``fit``. Tokens whose label is None or a set are no issues.
    cv, groups, n_jobs
        As of :func:`out_of_fold_marginals`.
    places : list of Where, or of dict, optional
        The place of each sequence in a file, which findings then show: dicts with some
        of the keys file, record, id and line, as in the metadata of ``read_spans``.

    Returns
    -------
    Findings
        Most suspicious first, by `Finding.chance`. Of a ``SpanTagger``, and of labels
        that are segments with types (``B-PER``), they are whole spans, those that are
        missing too: given and suggested are types, and ``other`` the ends that are
        suggested. All that the models reject is a finding, however small its chance.

    Raises
    ------
    ValueError, TypeError
        As :func:`out_of_fold_marginals`; or if ``places`` are not as many.

    References
    ----------
    .. [1] C. Northcutt, L. Jiang, I. Chuang (2021). Confident learning: estimating uncertainty in dataset
       labels. Journal of Artificial Intelligence Research 70.
    .. [2] M. Saerens, P. Latinne, C. Decaestecker (2002). Adjusting the outputs of a classifier to new a
       priori probabilities. Neural Computation 14.

    Examples
    --------
    >>> from skstruct import L1CRF
    >>> from skstruct.inspection import label_issues
    >>> X, y = [["the", "dog"], ["a", "cat"], ["the", "cat"]] * 10, [["D", "N"] for _ in range(30)]
    >>> y[4][1] = "D"
    >>> issues = label_issues(L1CRF(c1=0.1), X, y)
    >>> issues[0][:5]
    (4, 1, 2, 'D', 'N')
    """
    where = as_places(places, len(X))
    model = final_step(estimator).estimator
    how = cv, groups, n_jobs
    kind = getattr(model, "explained_as", None)
    scheme = None if kind in ("spans", "segmenter") else segment_scheme(y)
    if kind == "spans":
        found = []
        for part, spans in _one_chain_each(estimator, model, X, y):
            judged = judged_out_of_fold(judge_texts, part, X, spans, *how)
            found += issues_of_spans(judged)
    elif scheme is not None:
        judge = partial(judge_sentences, scheme)
        judged = judged_out_of_fold(judge, estimator, X, y, *how)
        found = [
            in_tokens(each, judged[each.sequence]) for each in issues_of_spans(judged)
        ]
    else:
        found = list(issues_of_labels(predicted_out_of_fold(estimator, X, y, *how)))
    found = [each._replace(where=where[each.sequence]) for each in found]
    return Findings(sorted(found, key=_by_suspicion))


def _one_chain_each(
    estimator: Any, model: Any, X: Any, y: Corpus
) -> list[tuple[Any, Corpus]]:
    """Return an estimator of one chain of labels, and its spans, for each chain that the
    span tagger in an estimator would learn from all texts.
    """
    if model.overlap != BY_TYPE:
        return [(estimator, y)]
    flat = clone(estimator)
    names = parameters_named(flat, "overlap")
    flat.set_params(**dict.fromkeys(names, "error"))
    return [(flat, part.y) for part in parts_by_type(X, y)]


def _by_suspicion(finding: Finding) -> tuple[Any, ...]:
    return -(finding.chance or 0.0), finding[:3]


def corrected(
    spans: Iterable[Sequence[Any]], findings: Iterable[Finding], nested: bool = False
) -> list[tuple[int, int, str]]:
    """Change the spans of a text as its findings suggest.

    ``nested``: spans of different types may overlap.
    """
    wrong = set()
    new = []
    for each in findings:
        wrong.add((each.start, each.end, each.given))
        if each.suggested is not None:
            new.append((*(each.other or (each.start, each.end)), each.suggested))
    stay = [
        tuple(span)
        for span in spans
        if tuple(span) not in wrong and span[2] is not None
    ]

    def meet(one: Sequence[Any], two: Sequence[Any]) -> bool:
        overlap = one[0] < two[1] and two[0] < one[1]
        return overlap and (not nested or one[2] == two[2])

    free = [
        span
        for k, span in enumerate(new)
        if not any(meet(other, span) for other in [*stay, *new[:k]])
    ]
    return sorted([*stay, *free])
