"""Translate: an encoder-decoder trained on pairs of texts, from the command line too."""
