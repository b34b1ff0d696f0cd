"""What mypy reads is not run."""

collect_ignore = ["uses_everything.py", "uses_it_wrongly.py"]
