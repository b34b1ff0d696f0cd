"""scikit-learn shells: validate, encode, train, decode, translate back. One estimator a file."""
