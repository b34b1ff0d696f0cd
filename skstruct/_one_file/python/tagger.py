"""The model, and what to call."""

from . import open_model
from .command import main

DATA = "ZVHBbsMgDG37KT6zKtlpynnnadK0U5QDDW6GSiAC01artm+fTRq1WokU8PPDfn78blarC+xDHDVBUysgnQ7QgNM7dAnUcmhaeOXoDToF/Ze2njnzrmCKYad31lmyyEyfnVOwR005SgyE4+Q0oZSjcEC5myhy1AeXR59KY4d7VlApiHb4mk/cwPu5ewtnUFXH3Y/aZZwhEwYQyAcjyIXrjVPI3pT0U60q/tqqUy2TPxtuyPI5lqVgiCFPhVkVYt11PwrQDI+17tlCMvZoU4hFdyKc+LBlvXoXMsndkQU5nvKDYu7FBvOOsceJYhDD0iGVBDOqLd9k6IQytbiFZ80ZbjLpSMX4iNpYP4h7d04u7vfalYdivaP2Rh4oYU82+NmkYs6251GIWbkGHlTdYHmAK/58w2c5jH8vePHlscwC/y8z449lWGw4oblSX9jyzWq93pTf+rr+AA=="

_tagger = open_model(DATA)

labels = _tagger.labels
about = _tagger.about
predict = _tagger.predict
decision_function = _tagger.decision_function
predict_marginals = _tagger.predict_marginals
explain = _tagger.explain

if __name__ == "__main__":
    main(_tagger)
