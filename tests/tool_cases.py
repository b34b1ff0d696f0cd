"""Models of CRF++ and Wapiti that their tests share."""

from foreign_models import (
    crfpp_binary,
    crfpp_small,
    crfpp_text,
    wapiti,
    wapiti_small,
)

from skstruct.interchange import (
    load_crfpp,
    load_wapiti,
)

X = [
    [("he", "P"), ("ran", "V"), ("off", "X")],
    [("he", "V")],
    [("they", "P"), ("he", "V"), ("he", "V")],
    [],
]
BYTES = {
    "CRF++": lambda: crfpp_binary(*crfpp_small()),
    "CRF++ text": lambda: crfpp_text(*crfpp_small()),
    "Wapiti": lambda: wapiti(*wapiti_small()),
}
LOADERS = {"CRF++": load_crfpp, "CRF++ text": load_crfpp, "Wapiti": load_wapiti}
NAMES = list(BYTES)


# -- damage ----------------------------------------------------------------------------
def text(**changes):
    parts = dict(zip(("labels", "templates", "keys", "weights"), crfpp_small()))
    return crfpp_text(**(parts | changes))
