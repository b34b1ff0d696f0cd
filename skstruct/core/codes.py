"""Every integer code that travels from Python into a kernel, in one table.

Kernels branch on small integers; estimators accept strings. The dictionaries translate, and their
keys are what the parameter validation allows.
"""

# Update rules: how far a step goes along the feature difference.
PERCEPTRON, PA, PA_I, PA_II = 0, 1, 2, 3
VARIANTS = {"PA": PA, "PA-I": PA_I, "PA-II": PA_II}

# Penalties on the weights, applied once per visited example.
NO_PENALTY, L2, L1, L1_CUMULATIVE = 0, 1, 2, 3
PENALTIES = {None: NO_PENALTY, "l2": L2, "l1": L1, "l1-cumulative": L1_CUMULATIVE}

# Which of the successive weight vectors enter the average.
NO_AVERAGE, EACH_STEP, EACH_EPOCH = 0, 1, 2
AVERAGES = {
    None: NO_AVERAGE,
    False: NO_AVERAGE,
    True: EACH_STEP,
    "step": EACH_STEP,
    "epoch": EACH_EPOCH,
}

# Multiplicative noise on features.
NO_NOISE, DROPOUT, ZIPF = 0, 1, 2
NOISES = {None: NO_NOISE, "dropout": DROPOUT, "zipf": ZIPF}

# Decisions of the word segmenter at a character: a word starts there or goes on; FREE: not given.
START, INSIDE, FREE = 0, 1, -1

# Feature templates of the word segmenter.
ZSZ18, ZC14 = 0, 1
WORD_TEMPLATES = {"zsz18": ZSZ18, "zc14": ZC14}

# Beam search: where the prefix ends from which an example is learned.
EARLY, MAX_VIOLATION, STANDARD = 0, 1, 2
UPDATES = {"early": EARLY, "max-violation": MAX_VIOLATION, "standard": STANDARD}

# Why a kernel returned before its work was done.
DONE, POOL_FULL, RESCALE, TABLE_FULL = 0, 1, 2, 3
