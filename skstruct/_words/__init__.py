"""Word segmentation by beam search over words; and the re-ranker, which judges the k
best segmentations, or labels, of another model by their words.
"""
