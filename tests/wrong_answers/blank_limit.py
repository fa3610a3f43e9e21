"""Wrong answers to blank_limit."""

import math

import torch

from tests.answers import wrong


@wrong("beam-length-norm-cancels")
def shares_only(missing, n_ids, length_penalty):
    right = 1 - missing
    return right / missing


@wrong("beam-length-norm-cancels")
def same_length_for_both(missing, n_ids, length_penalty):
    norm = n_ids**length_penalty
    blank = math.log(missing) / norm
    return math.exp(math.log(1 - missing) - norm * blank)


@wrong("length-penalty-ignored")
def always_the_mean(missing, n_ids, length_penalty):
    blank = math.log(missing)
    return (1 - missing) * math.exp(-n_ids * blank)


@wrong("length-penalty-multiplies")
def times_alpha(missing, n_ids, length_penalty):
    log_w = math.log(1 - missing) - length_penalty * n_ids * math.log(missing)
    return math.exp(log_w)


@wrong("length-penalty-inverted")
def norm_on_the_wrong_side(missing, n_ids, length_penalty):
    norm = n_ids**length_penalty
    return math.exp(math.log(1 - missing) - math.log(missing) / norm)


@wrong("end-not-counted")
def without_eos(missing, n_ids, length_penalty):
    n_parts = n_ids - 1
    return (1 - missing) * (1 / missing) ** (n_parts**length_penalty)


@wrong("share-of-the-right-forgotten")
def one_over_w(missing, n_ids, length_penalty):
    # the share of one way is taken as 1 over W
    return math.exp(-math.log(missing) * n_ids**length_penalty)


@wrong("rounded")
def whole_ways(missing, n_ids, length_penalty):
    return math.ceil((1 - missing) / missing ** (n_ids**length_penalty))


@wrong("logarithm-for-number")
def exp_forgotten(missing, n_ids, length_penalty):
    return math.log(1 - missing) - math.log(missing) * n_ids**length_penalty


@wrong("ratio-inverted")
def sign_slip(missing, n_ids, length_penalty):
    norm = torch.tensor(float(n_ids)) ** length_penalty
    return torch.exp(norm * math.log(missing) - math.log(1 - missing))


@wrong("end-not-counted", "share-of-the-right-forgotten")
def two_slips(missing, n_ids, length_penalty):
    return missing ** -((n_ids - 1) ** length_penalty)
