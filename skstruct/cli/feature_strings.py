"""The strings that templates expand to: what CRF++ would write, and what CRFsuite wants to be given.

skstruct itself never builds these strings; a peer that needs them gets the same features. A template
is one format string, applied to columns shifted against each other, so that the loop over tokens is in C.
"""

from collections import defaultdict

from ..features.contexts import is_context
from ..features.templates import MACRO
from ..features.tokens import column_function


class FeatureStrings:
    """Expands templates for one sentence at a time.

    Parameters
    ----------
    templates : FeatureTemplates

    Raises
    ------
    ValueError
        If a template looks at more than single tokens: at a lexicon, or at accessor variety.

    Attributes
    ----------
    left_out : list of str
        Templates of transitions that look at the input, which CRFsuite does not have.

    Examples
    --------
    >>> from skstruct import FeatureTemplates
    >>> strings = FeatureStrings(FeatureTemplates(["U00:%x[-1,0]", "U01:%suffix2[0,0]", "B"]))
    >>> strings(["the", "frog"])
    [['U00:_B-1', 'U01:he'], ['U00:the', 'U01:og']]
    """

    def __init__(self, templates):
        offsets = (0, *templates.offsets)
        self._before, self._behind = -min(offsets), max(offsets)
        self._forms = []  # (format string, atoms)
        for template in templates.templates:
            odd = next((name for name, _, _ in template.atoms if is_context(name)), None)
            if odd is not None and not template.edge:
                raise ValueError(f"%{odd} in {template.text!r} has no expansion to strings")
            if not template.edge:
                literals = MACRO.split(template.text)[::4]
                form = "%s".join(literal.replace("%", "%%") for literal in literals)
                self._forms.append((form, template.atoms))
        self.left_out = [t.text for t in templates.templates if t.edge and t.atoms]
        self._values = defaultdict(dict)  # (function, column) -> {string: value}

    def __call__(self, sentence):
        """The features of a sentence.

        Parameters
        ----------
        sentence : list of str or tuples of str

        Returns
        -------
        list of list of str
            One list for each token, one string for each template.
        """
        T, columns = len(sentence), {}
        before = [f"_B-{d}" for d in range(self._before, 0, -1)]
        behind = [f"_B+{d}" for d in range(1, self._behind + 1)]
        out = []
        for form, atoms in self._forms:
            if not atoms:
                out.append([form % ()] * T)
                continue
            parts = []
            for name, column, offset in atoms:
                channel = name, column
                if channel not in columns:
                    columns[channel] = [*before, *self._column(sentence, name, column), *behind]
                start = self._before + offset
                parts.append(columns[channel][start : start + T])
            out.append(map(form.__mod__, zip(*parts)))
        return list(map(list, zip(*out))) if out else [[] for _ in range(T)]

    def _column(self, sentence, name, column):
        strings = [token if isinstance(token, str) else token[column] for token in sentence]
        if name == "x":
            return strings
        known, function = self._values[name, column], column_function(name)
        for string in strings:
            if string not in known:
                known[string] = function(string)
        return [known[string] for string in strings]
