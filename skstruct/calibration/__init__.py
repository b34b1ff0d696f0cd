"""Confidence: probabilities from the scores of taggers."""
