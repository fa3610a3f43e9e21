"""Right answers to writing_cost."""

import torch

from tests.answers import right


@right("a loop over the steps")
def loop(n_written, n_source, d_model):
    count = 0
    for step in range(n_written):
        if step == 0:
            count += 2 * n_source * d_model**2
        count += 4 * d_model**2 + 2 * (step + 1) * d_model
        count += 2 * d_model**2 + 2 * n_source * d_model
    return count


@right("one polynomial, factored")
def polynomial(n_written, n_source, d_model):
    n, s, d = n_written, n_source, d_model
    return d * (6 * n * d + n * (n + 1) + 2 * n * s + 2 * s * d)


@right("the cells of two tables, counted")
def by_tables(n_written, n_source, d_model):
    cells = torch.ones(n_written, n_written).tril().sum() + n_written * n_source
    vectors = torch.tensor([4 * n_written, 2 * n_written, 2 * n_source]).sum()
    return vectors * d_model**2 + 2 * d_model * cells.long()
