"""
A tagger as a web service
=========================

A model that many threads share, behind the web server of the standard library. Prediction never changes a
fitted model, and compiled code lets other threads run: so one process answers several clients at a time.
``service`` is all there is to it; the rest asks it questions and compares the answers.
"""

# %%
# The service: lists of tokens come in as JSON, lists of labels go out.
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

from skstruct import StructuredPerceptron
from skstruct.datasets import load_tagging


def service(model, address=("127.0.0.1", 0), threads=True):
    """A web server, not started yet, that answers ``POST`` of JSON sequences with their labels."""
    tuples = model.inputs.token is tuple  # which JSON has not: its lists stand for them

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # clients keep their connections
        wbufsize = -1  # an answer leaves in one piece: small ones wait for each other otherwise
        disable_nagle_algorithm = True

        def do_POST(self):
            try:
                X = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if tuples:
                    X = [[tuple(t) if isinstance(t, list) else t for t in tokens] for tokens in X]
                code, answer = 200, model.predict(X)
            except (ValueError, TypeError) as error:  # which name the sequence and the place
                code, answer = 400, {"error": str(error)}
            body = json.dumps(answer).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    return (ThreadingHTTPServer if threads else HTTPServer)(address, Handler)


# %%
# A client: the answers to some requests.
def ask(address, requests):
    connection, answers = HTTPConnection(*address), []
    for X in requests:
        connection.request("POST", "/", json.dumps(X))
        answers.append(json.loads(connection.getresponse().read()))
    connection.close()
    return answers


def wrong_answers(model, X, n_requests, n_clients, threads):
    """How many of the answers differ from what the model says when nobody else asks."""
    requests = [[X[k % len(X)]] for k in range(n_requests)]
    expected = [model.predict(x) for x in requests]
    server = service(model, threads=threads)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    parts = [slice(k, None, n_clients) for k in range(n_clients)]
    try:
        with ThreadPoolExecutor(n_clients) as clients:
            found = list(clients.map(lambda part: ask(server.server_address, requests[part]), parts))
    finally:
        server.shutdown()
        server.server_close()
    return sum(a != b for part, got in zip(parts, found) for a, b in zip(expected[part], got))


# %%
# Train, make it small, and compare. With one worker clients wait for each other, connection by connection.
if __name__ == "__main__":
    X, y = load_tagging()
    model = StructuredPerceptron("word", random_state=0).fit(X, y).compress()
    for name, threads in (("threads", True), ("one worker", False)):
        differ = wrong_answers(model, X, 200, 8, threads)
        print(f"{name}: 200 requests of 8 clients, {differ} differ")

    # How small can it be?
    import matplotlib.pyplot as plt

    from skstruct.inspection import size_curve

    size_curve(model, X, y).plot()
    plt.show()
