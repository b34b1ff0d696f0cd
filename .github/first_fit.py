"""End with an error if the first fit of an installed wheel compiles a kernel, or takes
a second of processor time.
"""

import time

from skstruct import SpanTagger
from skstruct._core.compile import cache_counts

texts = ["The dog barks.", "Ann sleeps."] * 4
spans = [[(4, 7, "PET")], [(0, 3, "NAME")]] * 4
tagger = SpanTagger()
began = time.process_time()
tagger.fit(texts, spans)
seconds = time.process_time() - began
found = tagger.predict(texts)
loaded, compiled = cache_counts()
print(f"{seconds:.2f} s, {loaded} kernels loaded, {compiled} compiled, {found[:2]}")
assert loaded and not compiled, (loaded, compiled)
assert seconds < 1.0, seconds
