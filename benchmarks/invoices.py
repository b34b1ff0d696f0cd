"""Invoices with errors of annotation that are planted systematically.

Every eighth record has one: a span that is left out, one with another type, one whose
end lost one to three characters, or a number that is marked as the total.
"""

import random
import re
from collections import namedtuple

Error = namedtuple("Error", "text kind span")

VENDORS = (
    "Brockmann Werkzeuge GmbH|Halden & Sons Ltd|Nordic Paper AS|Atelier Mercier|"
    "Kestrel Logistics|Quantum Office Supply|Ostara Catering|Tanaka Trading Co.|"
    "Silva Irmãos Lda|Monte Verde Foods S.p.A.|J. P. Archer|Baltic Timber OÜ"
).split("|")
CURRENCIES = "EUR {}", "€{}", "{} EUR", "$ {}", "USD {}", "£{}"
MONTHS = (
    "January February March April May June July August September October November "
    "December"
).split()
ITEMS = "A4 paper, 500 sheets|toner black|copper pipe 15mm|lunch for 12 persons".split(
    "|"
)
LABELS = "VENDOR", "DATE", "TOTAL", "INVOICE_NO", "IBAN"
LAYOUTS = (
    "{VENDOR}\nInvoice no. {INVOICE_NO}\nDate: {DATE}\n\n{items}Total due: {TOTAL}\n"
    "IBAN: {IBAN}\n",
    "Dear Sir or Madam,\nplease find attached invoice {INVOICE_NO} dated {DATE} from "
    "{VENDOR} over {TOTAL}. Kindly transfer the sum within 14 days to {IBAN}.\n",
    "REMINDER: Our invoice {INVOICE_NO} of {DATE} is still open. Amount: {TOTAL} plus "
    "reminder fee {amount}. {VENDOR}, accounts department",
    "Supplier: {VENDOR}\nRef {INVOICE_NO}\nOrder date {date}, invoice date {DATE}\n"
    "Subtotal {amount}\nVAT 19% {amount}\nTOTAL {TOTAL}\nPay to {IBAN}",
    "Thank you for your order at {VENDOR} 😀! Order of {date}. Your receipt "
    "{INVOICE_NO}, {DATE}, sum {TOTAL} was paid by card.",
)


class Writer:
    """Writes invoices, each of one of five layouts."""

    def __init__(self, draw):
        self.draw = draw

    def amount(self):
        n, cents = self.draw.randint(10, 99999), self.draw.randint(0, 99)
        number = self.draw.choice(
            [f"{n}.{cents:02d}", f"{n:,}.{cents:02d}", f"{n:_},{cents:02d}"]
        )
        return self.draw.choice(CURRENCIES).format(number.replace("_", "."))

    def date(self):
        d, m = self.draw.randint(1, 28), self.draw.randint(1, 12)
        y = self.draw.randint(2019, 2025)
        name = MONTHS[m - 1]
        return self.draw.choice(
            [f"{d:02d}.{m:02d}.{y}", f"{y}-{m:02d}-{d:02d}", f"{d} {name} {y}",
             f"{name} {d}, {y}", f"{m}/{d}/{y}"]
        )  # fmt: skip

    def number(self):
        n = self.draw.randint(1000, 9999)
        year = self.draw.randint(2019, 2025)
        return self.draw.choice(
            [f"INV-{n}", f"RE{year}/{n}", f"#{n}7", f"{n}-{n % 89}"]
        )

    def iban(self):
        groups = " ".join(f"{self.draw.randint(0, 9999):04d}" for _ in range(4))
        return f"DE{self.draw.randint(10, 99)} {groups} {self.draw.randint(0, 99):02d}"

    def items(self):
        return "".join(
            f"{self.draw.randint(1, 20)} x {self.draw.choice(ITEMS)}   {self.amount()}\n"
            for _ in range(self.draw.randint(1, 4))
        )

    def write(self):
        """A text, and its spans: the fields in capitals."""
        fields = {
            "VENDOR": lambda: self.draw.choice(VENDORS),
            "DATE": self.date,
            "TOTAL": self.amount,
            "INVOICE_NO": self.number,
            "IBAN": self.iban,
            "date": self.date,
            "amount": self.amount,
            "items": self.items,
        }
        text = ""
        spans = []
        for part in re.split(r"(\{\w+\})", self.draw.choice(LAYOUTS)):
            name = part.strip("{}")
            value = fields[name]() if part.startswith("{") else part
            if part.startswith("{") and name.isupper():
                spans.append((len(text), len(text) + len(value), name))
            text += value
        return text, spans


def invoices(seed, n=240, rate=0.12):
    """Texts, spans, and the errors that were planted into these."""
    draw = random.Random(seed)
    writer = Writer(draw)
    X, y, errors = [], [], []
    for i in range(n):
        text, spans = writer.write()
        if draw.random() < rate:
            error = _spoil(draw, i, text, spans)
            errors += [error] if error else []
        X.append(text)
        y.append(sorted(spans))
    return X, y, errors


def _spoil(draw, i, text, spans):
    """Make one error in the spans of a text; None if it offers no place for it."""
    kind = draw.choice(["missing", "other type", "other boundary", "superfluous"])
    k = draw.randrange(len(spans))
    a, b, label = spans[k]
    if kind == "missing":
        return Error(i, kind, spans.pop(k))
    if kind == "superfluous":
        numbers = [match.span() for match in re.finditer(r"\d[\d.,]+", text)]
        free = [
            (c, d) for c, d in numbers if not any(a < d and c < b for a, b, _ in spans)
        ]
        if not free:
            return None
        spans.append((*draw.choice(free), "TOTAL"))
        return Error(i, kind, spans[-1])
    if kind == "other type":
        spans[k] = a, b, draw.choice([each for each in LABELS if each != label])
    else:
        spans[k] = a, b - draw.choice([1, 2, 3]), label
    return Error(i, kind, spans[k])
