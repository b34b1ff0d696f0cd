"""Corpus files: CoNLL columns, CoNLL-U, segmented text, and annotated texts of
annotation tools.
"""
