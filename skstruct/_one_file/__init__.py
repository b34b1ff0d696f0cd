"""A fitted model as one file of Python or JavaScript, or as a page."""
