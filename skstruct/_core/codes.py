"""Every integer code that travels from Python into a kernel, in one table.

Kernels branch on small integers; estimators accept strings. The dictionaries translate,
and their keys are what the parameter validation allows.
"""

# Update rules: how far a step goes along the feature difference.
PERCEPTRON = 0
PA = 1
PA_I = 2
PA_II = 3
VARIANTS = {"PA": PA, "PA-I": PA_I, "PA-II": PA_II}

# Penalties on the weights, applied once per visited example.
NO_PENALTY = 0
L2 = 1
L1 = 2
L1_CUMULATIVE = 3
PENALTIES = {None: NO_PENALTY, "l2": L2, "l1": L1, "l1-cumulative": L1_CUMULATIVE}

# Which of the successive weight vectors enter the average.
NO_AVERAGE = 0
EACH_STEP = 1
EACH_EPOCH = 2
AVERAGES = {
    None: NO_AVERAGE,
    False: NO_AVERAGE,
    True: EACH_STEP,
    "step": EACH_STEP,
    "epoch": EACH_EPOCH,
}

# Multiplicative noise on features.
NO_NOISE = 0
DROPOUT = 1
ZIPF = 2
NOISES = {None: NO_NOISE, "dropout": DROPOUT, "zipf": ZIPF}

# Decisions of the word segmenter at a character: a word starts there or goes on; FREE:
# not given.
START = 0
INSIDE = 1
FREE = -1

# Feature templates of the word segmenter.
ZSZ18 = 0
ZC14 = 1
WORD_TEMPLATES = {"zsz18": ZSZ18, "zc14": ZC14}

# Beam search: where the prefix ends from which an example is learned.
EARLY = 0
MAX_VIOLATION = 1
STANDARD = 2
UPDATES = {"early": EARLY, "max-violation": MAX_VIOLATION, "standard": STANDARD}

# Why a kernel returned before its work was done.
DONE = 0
POOL_FULL = 1
RESCALE = 2
TABLE_FULL = 3
