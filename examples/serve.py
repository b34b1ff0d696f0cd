"""
A tagger as a web service
=========================

``skstruct serve model.skstruct`` answers requests over HTTP. This script starts the
same service from Python, and asks it as any client would.
"""

import json
import threading
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from skstruct import StructuredPerceptron
from skstruct.datasets import load_tagging
from skstruct.serving import addresses_of, app, new_server, stop

# %%
# A model, made small, behind a server in a thread. All requests share the model:
# prediction never changes it.
X, y = load_tagging()
model = StructuredPerceptron("word", random_state=0).fit(X, y).compress()
server = new_server(app({"tags": model}), port=0, max_bytes=1_000_000)
((host, port),) = addresses_of(server)
threading.Thread(target=server.run, daemon=True).start()


# %%
# JSON in, JSON out; a text does as well. What is wrong with a request is said with its
# place.
def ask(path, body, kind="application/json"):
    url = f"http://{host}:{port}{path}"
    try:
        with urlopen(Request(url, body.encode(), {"Content-Type": kind})) as answer:
            return json.load(answer)
    except HTTPError as error:
        return json.load(error)


print(ask("/tags/predict", json.dumps([["the", "dog", "barks"], ["it", "sleeps"]])))
print(ask("/tags/predict", "the dog barks", "text/plain"))
print(ask("/tags/predict", json.dumps([["the", 3]])))
stop(server)

# %%
# How small can the model be?
if __name__ == "__main__":
    import matplotlib.pyplot as plt

    from skstruct.inspection import size_curve

    size_curve(model, X, y).plot()
    plt.show()
