"""One model from several: shuffle-and-average and parameter mixing."""
