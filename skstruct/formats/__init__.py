"""Corpus files: CoNLL columns, CoNLL-U and segmented text."""
