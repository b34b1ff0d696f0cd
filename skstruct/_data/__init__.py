"""From what a user has to arrays of integers; knows nothing of the learners."""
