"""Files for the commands around the labelling of a corpus: check, select, report."""

from cli_cases import columns

from skstruct import L1CRF, SpanTagger, StructuredPerceptron
from skstruct.datasets import (
    columns_to_spans,
    load_chunking,
    load_entities,
    write_spans,
)


def labelling_files(folder):
    """Write a corpus with a wrong label in its line 5, and models; returns the
    folder.
    """
    X, y = (part[:60] for part in load_chunking())
    L1CRF(random_state=0).fit(X, y).save(folder / "crf")
    StructuredPerceptron(random_state=0).fit(X, y).save(folder / "perceptron")
    y = [list(labels) for labels in y]
    y[0][4] = "B-ADJP"
    (folder / "train.txt").write_text(columns(X, y), encoding="utf-8")
    texts, spans = columns_to_spans(*load_entities())
    write_spans(folder / "notes.jsonl", texts[:40], spans[:40])
    SpanTagger(L1CRF(random_state=0)).fit(texts[:40], spans[:40]).save(folder / "ner")
    return folder
