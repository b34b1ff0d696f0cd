"""A connection: refusals that arrive, and are noted, whoever makes them."""

import logging

import pytest
from serving_cases import HEAD, NEXT, ask, exchange, logged, served, statuses

from skstruct import StructuredPerceptron


@pytest.fixture(scope="module")
def model():
    return StructuredPerceptron("word", max_iter=1).fit([["the", "dog"]], [["D", "N"]])


@pytest.mark.parametrize("n_bytes", [100_000, 3_000_000, 20_000_000])
def test_the_refusal_of_a_long_body_arrives(n_bytes, model):
    """Also while its client is still sending: the rest is read, and dropped."""
    with served({"model": model}, max_bytes=1000) as address:
        for _ in range(3):
            ((status, answer),) = ask(address, [b" " * n_bytes])
            assert status == 413 and answer["error"] == (
                "a request has at most 1,000 bytes"
            )


def test_a_late_request_is_told_so(model, caplog):
    caplog.set_level(logging.INFO, "skstruct.serving.requests")
    with served({"model": model}, timeout=0.5) as address:
        for part in (b"POST /pre", HEAD, HEAD + b"Content-Length: 9\r\n\r\n[["):
            assert statuses(exchange(address, part)) == [408]
        assert logged(caplog) == [408] * 3
        assert statuses(exchange(address, NEXT)) == [200]
