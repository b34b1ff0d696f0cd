"""Reranking the k best labellings of a tagger."""
