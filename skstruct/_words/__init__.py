"""Word segmentation by beam search over words."""
