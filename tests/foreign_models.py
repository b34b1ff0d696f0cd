"""Model files of CRFsuite, CRF++ and Wapiti written byte by byte, apart from what the
package writes.
"""

import struct

LABELS = ["O", "B", "A"]
"""Not in sorted order."""


def database(strings):
    """A string database of CRFsuite without hash tables: readers go by the links."""
    records, links = b"", []
    for k, string in enumerate(strings):
        links.append(24 + 2048 + len(records))
        raw = string.encode() + b"\0"
        records += struct.pack("<II", k, len(raw)) + raw
    size = 24 + 2048 + len(records) + 4 * len(strings)
    at = 24 + 2048 + len(records) if strings else 0
    head = b"CQDB" + struct.pack("<5I", size, 0, 0x62445371, len(strings), at)
    return head + bytes(2048) + records + struct.pack(f"<{len(links)}I", *links)


def lists(tag, members, at, spare=0):
    """Lists of feature numbers; the chunk begins at a byte of the file."""
    body, offsets = b"", []
    for mine in members:
        offsets.append(at + 12 + 4 * (len(members) + spare) + len(body))
        body += struct.pack(f"<{1 + len(mine)}I", len(mine), *mine)
    offsets += [0] * spare
    size = 12 + 4 * len(offsets) + len(body)
    return (
        tag + struct.pack(f"<{2 + len(offsets)}I", size, len(offsets), *offsets) + body
    )


def crfsuite(labels, attributes, states, transitions):
    """A model file of CRFsuite.

    ``states`` are (attribute, label, weight), ``transitions`` (label, label, weight),
    all by name.
    """
    features = [(0, attributes.index(a), labels.index(y), w) for a, y, w in states]
    features += [(1, labels.index(p), labels.index(y), w) for p, y, w in transitions]
    out = bytearray(48)
    offsets = [48]
    out += b"FEAT" + struct.pack("<II", 12 + 20 * len(features), len(features))
    out += b"".join(struct.pack("<IIId", *feature) for feature in features)
    for strings in (labels, attributes):
        offsets.append(len(out))
        out += database(strings)
    for tag, kind, n, spare in (
        (b"LFRF", 1, len(labels), 2),
        (b"AFRF", 0, len(attributes), 0),
    ):
        out += bytes(-len(out) % 4)
        offsets.append(len(out))
        mine = [
            [k for k, f in enumerate(features) if f[:2] == (kind, s)] for s in range(n)
        ]
        out += lists(tag, mine, len(out), spare)
    head = [b"lCRF", len(out), b"FOMC", 100, 0, len(labels), len(attributes), *offsets]
    out[:48] = struct.pack("<4sI4s4I5I", *head)
    return bytes(out)


def crfsuite_small():
    """Three labels; the attribute "tie" says nothing."""
    return crfsuite(
        LABELS,
        ["w:he", "w:ran", "up", "tie"],
        [
            ("w:he", "A", 2.0),
            ("w:he", "O", 0.5),
            ("w:ran", "O", 1.0),
            ("up", "B", 0.25),
            ("tie", "O", 1e-300),
        ],
        [("A", "O", 1.5), ("O", "B", 0.5), ("B", "B", -1.0)],
    )


def crfpp_text(labels, templates, keys, weights, n_columns=2):
    """The text of a model of CRF++; ``keys`` are (first weight, key)."""
    blocks = [
        f"version: 100\ncost-factor: 1\nmaxid: {len(weights)}\nxsize: {n_columns}",
        *(
            "\n".join(block)
            for block in (labels, templates, [f"{k} {key}" for k, key in keys])
        ),
        "\n".join(f"{w:.16f}" for w in weights),
    ]
    return ("\n\n".join(blocks) + "\n").encode()


def double_array(keys):
    """Units (base, check) of a trie that takes a new stretch of 257 units for each
    node.
    """
    units = {0: [1, 0]}
    used = 1

    def place(mine, node, depth):
        nonlocal used
        base = used
        used += 257
        units[node][0] = base
        for key, value in mine:
            if len(key) == depth:
                units[base] = [-value - 1, base]
        for c in sorted({key[depth] for key, _ in mine if len(key) > depth}):
            units[base + c + 1] = [0, base]
        for c in sorted({key[depth] for key, _ in mine if len(key) > depth}):
            place(
                [(k, v) for k, v in mine if len(k) > depth and k[depth] == c],
                base + c + 1,
                depth + 1,
            )

    place(keys, 0, 0)
    return b"".join(struct.pack("<iI", *units.get(u, (0, 0))) for u in range(used))


def crfpp_binary(labels, templates, keys, weights, n_columns=2):
    """The same as a binary file."""
    array = double_array([(key.encode(), k) for k, key in keys])
    head = struct.pack("<IidIII", 100, 0, 1.0, len(weights), n_columns, len(array))
    parts = [
        b"".join(s.encode() + b"\0" for s in strings) for strings in (labels, templates)
    ]
    parts[1] += bytes(-sum(map(len, parts)) % 4)
    body = b"".join(struct.pack("<I", len(part)) + part for part in parts)
    return head + body + array + struct.pack(f"<{len(weights)}f", *weights)


CRFPP_TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,1]", "Ubias", "B", "B1:%x[0,1]"]


def crfpp_small():
    """(labels, templates, keys, weights): three labels, weights that have few binary
    digits.
    """
    names = ["U0:he", "U0:ran", "U1:_B-1/P", "U1:he/V", "Ubias", "B", "B1:V"]
    keys, weights = [], []
    for k, name in enumerate(names):
        keys.append((len(weights), name))
        n = 9 if name[0] == "B" else 3
        weights += [((5 * k + 3 * j) % 7 - 3) / 4 for j in range(n)]
    return LABELS, CRFPP_TEMPLATES, keys, weights


def netstring(string):
    raw = string.encode()
    return b"%d:%s,\n" % (len(raw), raw)


def wapiti(
    labels, patterns, observations, weights, head="#mdl#2#{}", reader="#rdr#{}/1/0"
):
    """A model file of Wapiti; ``weights`` are {index: weight}."""
    rows = "".join(f"{k}={w.hex()}\n" for k, w in sorted(weights.items()))
    return b"".join((
        head.format(len(weights)).encode(), b"\n", reader.format(len(patterns)).encode(), b"\n",
        *map(netstring, patterns),
        f"#qrk#{len(labels)}\n".encode(), *map(netstring, labels),
        f"#qrk#{len(observations)}\n".encode(), *map(netstring, observations),
        rows.encode(),
    ))  # fmt: skip


WAPITI_PATTERNS = [
    "u:w=%x[0,0]",
    "u:l=%X[-1,0]",
    'u:s=%m[ 0,0,".?$"]',
    "*:p=%x[0,1]",
    "b",
]


def wapiti_small():
    """(labels, patterns, observations, weights); observation k has its weights in the
    order of the file.
    """
    observations = ["u:w=he", "u:l=_x-1", "u:s=n", "*:p=V", "b", "u:l=he"]
    weights = {
        k: ((5 * k) % 9 - 4) / 8 for k in range(3 * 3 + 12 + 9 + 3) if (5 * k) % 9 != 4
    }
    return LABELS, WAPITI_PATTERNS, observations, weights


def damaged(raw, random):
    """Some bytes changed, lost, added, moved or cut off; ``random`` is a
    ``random.Random``.
    """
    out, kind = bytearray(raw), random.randrange(7)
    at, size = random.randrange(len(out) - 4), random.randrange(1, 20)
    if kind == 0:
        del out[at:]
    elif kind == 1:
        out[at] ^= 1 << random.randrange(8)
    elif kind == 2:
        out[at] = random.choice([0, 255, 127, 128, 10, 32, 57])
    elif kind == 3:
        del out[at : at + size]
    elif kind == 4:
        out[at:at] = random.randbytes(size)
    elif kind == 5:
        out[at : at + 4] = random.choice(
            [b"\xff" * 4, bytes(4), b"\xff\xff\xff\x7f", b"\0\0\0\x80"]
        )
    else:
        other = random.randrange(len(out))
        out[at : at + size] = out[other : other + size]
    return bytes(out)
