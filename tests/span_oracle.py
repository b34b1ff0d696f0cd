"""What happens to spans, one character and one token at a time."""

import unicodedata

SPACES = "\u200b\ufeff"

ALPHABET = [
    *"abzABZ019 \n\r\t.,-'\"()!?…“”éñßक्षिनกขลเ北京ひカ한글\u0301\u200d\ufe0f😀❤👍🏽🇩🇪\u200b\ufeff\u00ad",
    *"\u2029\ud800\U000e0067ᄒ\u1161½Ⅷ\x00",
    "\r\n",
]


def random_text(rng):
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(30)))


def is_space(c):
    return c.isspace() or c in SPACES


def trimmed(text, start, end):
    while start < end and is_space(text[start]):
        start += 1
    while end > start and is_space(text[end - 1]):
        end -= 1
    return start, end


def covered(span, token):
    return min(span[1], token[1]) - max(span[0], token[0])


def aligned(text, tokens, spans, align, overlap="longest"):
    """(labels by token as (position of the span or None for unknown or "O"), problem by
    span).
    """
    problem, rest = [None] * len(spans), []
    unknown, seen = set(), set()
    for k, (start, end, label) in enumerate(spans):
        a, b = trimmed(text, start, end)
        touched = [
            t for t, token in enumerate(tokens) if a < b and covered((a, b), token) > 0
        ]
        if label is None:
            unknown.update(touched)
            continue
        if not touched:
            problem[k] = "empty"
        elif (a, b, label) in seen:
            problem[k] = "duplicate"
        else:
            seen.add((a, b, label))
            problem[k] = "trimmed" if (a, b) != (start, end) else None
            rest.append((a, b, k))
    taken = []
    for a, b, k in sorted(rest, key=lambda s: (s[0] - s[1], s[0], s[2])):
        if any(covered((a, b), other) > 0 for other in taken):
            problem[k] = "overlap"
        else:
            taken.append((a, b, k))
    claims = {}
    for a, b, k in sorted(taken):
        touched = [t for t, token in enumerate(tokens) if covered((a, b), token) > 0]
        whole = [t for t in touched if a <= tokens[t][0] and tokens[t][1] <= b]
        mine = {
            "expand": touched,
            "contract": whole,
            "unknown": touched if whole == touched else [],
            "nearest": [
                t
                for t in touched
                if 2 * covered((a, b), tokens[t]) >= tokens[t][1] - tokens[t][0]
            ],
        }[align]
        if whole != touched:
            problem[k] = (
                "moved" if mine else {"contract": "dropped"}.get(align, "unknown")
            )
        if not mine and align != "contract":
            unknown.update(touched)
        for t in mine:
            claims.setdefault(t, []).append((-covered((a, b), tokens[t]), a, k))
    out = [None if t in unknown else "O" for t in range(len(tokens))]
    for t, each in claims.items():
        (_, _, winner), *losers = sorted(each)
        out[t] = winner
        for _, _, k in losers:
            problem[k] = "crowded"
    return out, problem


def is_mark(c):
    joins = unicodedata.category(c)[0] == "M" or unicodedata.category(c) == "Cf"
    return not is_space(c) and (
        joins or 0x1F3FB <= ord(c) <= 0x1F3FF or 0x1160 <= ord(c) <= 0x11FF
    )
