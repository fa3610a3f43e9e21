"""Shift once, count real tokens, and end where an uninterrupted run would end."""

import json
import math
import os
import signal
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.training import (
    inputs_and_targets,
    learning_rate_at,
    next_token_loss,
    perplexity,
    shift_right,
    train,
)


def decoder(seed=3, **changes):
    sizes = dict(vocab_size=13, d_model=15, n_layers=2, n_heads=3, max_length=16)
    generator = torch.Generator().manual_seed(seed)
    return Decoder(DecoderConfig(**{**sizes, **changes}), generator=generator)


def batch_at(i, rows=2, n=7):
    """Micro-batch i: a counting task with ragged rows, always the same for the same i."""
    generator = torch.Generator().manual_seed(i)
    starts = torch.randint(0, 13, (rows, 1), generator=generator)
    tokens = (starts + torch.arange(n)) % 13
    lengths = torch.randint(2, n + 1, (rows,), generator=generator)
    return inputs_and_targets(tokens, lengths)


# -- shifting and loss ----------------------------------------------------------------


def test_inputs_are_the_targets_one_place_later_behind_a_start_token():
    targets = torch.tensor([[5, 7, 2], [3, 2, -100]])
    assert shift_right(targets, bos_id=1).tolist() == [[1, 5, 7], [1, 3, 2]]


def test_a_target_that_does_not_count_is_fed_as_the_start_token():
    assert shift_right(torch.tensor([[3, -100, -100]]), bos_id=1).tolist() == [
        [1, 3, 1]
    ]


def test_every_target_is_the_token_after_its_input():
    tokens = torch.tensor([[4, 5, 6, 7], [8, 9, 2, 2]])
    inputs, targets = inputs_and_targets(tokens, lengths=[4, 3])
    assert inputs.tolist() == [[4, 5, 6], [8, 9, 2]]
    assert targets.tolist() == [[5, 6, 7], [9, 2, -100]]


def test_padding_is_known_by_its_place_even_if_it_looks_like_the_end_token():
    _, targets = inputs_and_targets(
        torch.tensor([[4, 2, 2, 2]]), lengths=torch.tensor([2])
    )
    assert targets.tolist() == [[2, -100, -100]]


def test_the_loss_scores_logits_at_t_against_targets_at_t():
    logits = torch.full((1, 3, 5), -20.0)
    targets = torch.tensor([[4, 0, 2]])
    logits[0, torch.arange(3), targets[0]] = 20.0
    assert next_token_loss(logits, targets).item() < 1e-6
    assert next_token_loss(logits, targets.roll(1, dims=1)).item() > 10


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_the_loss_and_its_gradient_equal_torch_cross_entropy(label_smoothing):
    logits = torch.randn(2, 3, 5, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[1, 4, -100], [-100, 0, 2]])
    ours = next_token_loss(logits, targets, label_smoothing=label_smoothing)
    gradient = torch.autograd.grad(ours, logits)[0]
    theirs = F.cross_entropy(
        logits.transpose(1, 2),
        targets,
        ignore_index=-100,
        label_smoothing=label_smoothing,
    )
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradient, torch.autograd.grad(theirs, logits)[0])


def test_half_precision_logits_are_scored_in_float32():
    logits = torch.randn(1, 3, 5).bfloat16()
    loss = next_token_loss(logits, torch.tensor([[1, 2, 3]]))
    assert loss.dtype == torch.float32
    torch.testing.assert_close(
        loss,
        F.cross_entropy(logits[0].float(), torch.tensor([1, 2, 3])),
        rtol=0,
        atol=0,
    )


def test_the_loss_without_a_real_target_is_zero_and_so_is_its_gradient():
    logits = torch.randn(1, 2, 5, requires_grad=True)
    loss = next_token_loss(logits, torch.full((1, 2), -100))
    loss.backward()
    assert loss.item() == 0
    assert logits.grad.abs().max() == 0


def test_padding_does_not_change_the_loss():
    model = decoder().eval()
    tokens = torch.tensor([[1, 2, 3, 4]])
    padded = F.pad(tokens, (0, 3), value=2)
    inputs, targets = inputs_and_targets(tokens)
    longer, more_targets = inputs_and_targets(padded, lengths=[4])
    torch.testing.assert_close(
        next_token_loss(model(longer), more_targets),
        next_token_loss(model(inputs), targets),
    )


@pytest.mark.parametrize("label_smoothing", [0.0, 0.2])
def test_padding_counts_neither_in_the_sum_nor_in_the_mean(label_smoothing):
    logits = torch.randn(1, 5, 7)
    targets = torch.tensor([[3, 1, -100, -100, -100]])
    padded = next_token_loss(logits, targets, label_smoothing=label_smoothing)
    alone = next_token_loss(
        logits[:, :2], targets[:, :2], label_smoothing=label_smoothing
    )
    torch.testing.assert_close(padded, alone)


# -- perplexity -----------------------------------------------------------------------


def test_perplexity_weights_every_token_alike_however_the_batches_are_cut():
    model = decoder().train()
    rows = [batch_at(i, rows=1) for i in range(5)]
    log_probabilities = []
    with torch.no_grad():
        for inputs, targets in rows:
            scores = model.eval()(inputs)[0].log_softmax(-1)
            log_probabilities += [
                scores[t, y].item() for t, y in enumerate(targets[0]) if y >= 0
            ]
    model.train()
    by_hand = math.exp(-sum(log_probabilities) / len(log_probabilities))
    together = [
        tuple(torch.cat(parts) for parts in zip(*rows[:3], strict=True)),
        *rows[3:],
    ]
    assert perplexity(model, rows) == pytest.approx(by_hand, rel=1e-5)
    assert perplexity(model, together) == pytest.approx(by_hand, rel=1e-5)
    assert model.training


def test_perplexity_ignores_dropout():
    model = decoder(dropout=0.5).train()
    batches = [batch_at(1)]
    assert perplexity(model, batches) == perplexity(model, batches)


def test_perplexity_calls_a_model_with_several_inputs():
    model = decoder(cross_attention=True)
    memory = torch.randn(2, 5, 15)
    inputs, targets = batch_at(0)
    expected = next_token_loss(model.eval()(inputs, memory), targets).exp().item()
    assert perplexity(model, [((inputs, memory), targets)]) == pytest.approx(
        expected, rel=1e-5
    )


# -- schedule ----------------------------------------------------------------------------


def test_the_rate_rises_in_a_line_and_falls_along_a_cosine():
    rates = [
        learning_rate_at(step, 12, 0.5, warmup_steps=2, floor=0.2) for step in range(12)
    ]
    assert rates[:3] == pytest.approx([0.25, 0.5, 0.5])
    assert rates[-1] == pytest.approx(0.1)
    third = 0.5 * (0.2 + 0.8 * (1 + math.cos(math.pi * 3 / 9)) / 2)
    assert rates[5] == pytest.approx(third)


# -- training -----------------------------------------------------------------------------


def test_a_small_model_learns_to_count():
    losses = train(decoder(), batch_at, 150, learning_rate=0.01, warmup_steps=10)
    assert losses[0] > 2.0
    assert sum(losses[-10:]) / 10 < 0.7


def test_updates_are_those_of_plain_adamw():
    model, reference = decoder(), decoder()
    inputs, targets = batch_at(0)
    batch = (inputs, targets)
    train(model, [batch], 3, learning_rate=0.01, clip_norm=None, weight_decay=0.3)
    matrices = [p for p in reference.parameters() if p.ndim >= 2]
    vectors = [p for p in reference.parameters() if p.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": 0.3},
        {"params": vectors, "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.95))
    for rate in (0.01, 0.0055, 0.001):  # a half cosine from the peak to a tenth of it
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.zero_grad()
        F.cross_entropy(reference(inputs).flatten(0, 1), targets.flatten()).backward()
        optimiser.step()
    for name, theirs in reference.named_parameters():
        if not name.endswith("to_keys.bias"):  # its gradient is 0 but for rounding
            ours = model.get_parameter(name)
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-3)


def test_cutting_a_batch_into_unequal_micro_batches_changes_nothing():
    rows = [batch_at(i, rows=1) for i in range(3)]
    whole = tuple(torch.cat(parts) for parts in zip(*rows, strict=True))
    cut, joined = decoder().double(), decoder().double()
    losses = train(cut, rows, 4, accumulate=3)
    assert losses == pytest.approx(train(joined, [whole], 4), abs=1e-9)
    for ours, theirs in zip(cut.parameters(), joined.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-7, rtol=1e-6)


def test_gradients_longer_than_clip_norm_are_shortened():
    model = decoder()
    train(model, batch_at, 1, clip_norm=0.01)
    squares = sum(p.grad.square().sum().item() for p in model.parameters())
    assert math.sqrt(squares) == pytest.approx(0.01, rel=1e-3)


def test_bfloat16_training_follows_float32():
    full = train(decoder(), batch_at, 60, learning_rate=0.01)
    half = train(decoder(), batch_at, 60, learning_rate=0.01, dtype=torch.bfloat16)
    assert half != full
    assert sum(half[-10:]) / 10 == pytest.approx(sum(full[-10:]) / 10, abs=0.3)
    assert decoder().embedding.weight.dtype == torch.float32


def test_training_restores_the_mode_and_reports_every_step():
    model, reported = decoder().eval(), []
    losses = train(
        model, batch_at, 3, on_step=lambda step, loss: reported.append((step, loss))
    )
    assert reported == list(enumerate(losses))
    assert not model.training


def test_a_loss_that_is_not_finite_stops_before_the_weights_are_touched():
    model = decoder()
    model.embedding.weight.data[3] = torch.nan
    before = model.head.weight.clone()
    with pytest.raises(
        RuntimeError, match="the loss at step 0 was nan; lower the learning rate"
    ):
        train(model, [(torch.tensor([[3, 1]]), torch.tensor([[1, 2]]))], 2)
    torch.testing.assert_close(
        model.head.weight, before, equal_nan=True, rtol=0, atol=0
    )


# -- resume -------------------------------------------------------------------------------

RUN = """
import json, sys, torch
from tests.library.test_training import batch_at, decoder
from course_lib.training import train
path, slow = sys.argv[1], len(sys.argv) > 2
if slow:
    import time
torch.manual_seed(11)  # dropout draws from torch's own generator
model = decoder(dropout=0.2)
print(json.dumps(train(model, batch_at, 12, checkpoint=path, checkpoint_every=3,
    on_step=lambda step, loss: (print(step, flush=True), time.sleep(0.2)) if slow else None)))
print(json.dumps([p.double().sum().item() for p in model.parameters()]))
"""


def test_a_run_killed_in_the_middle_ends_where_an_uninterrupted_one_ends(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", RUN]

    def run(path):
        done = subprocess.run(
            [*command, path],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    path = tmp_path / "killed.pt"
    victim = subprocess.Popen(
        [*command, path, "slow"], env=environment, stdout=subprocess.PIPE, text=True
    )
    for line in victim.stdout:
        if line.strip() == "7":
            victim.send_signal(signal.SIGKILL)
            break
    assert victim.wait() == -signal.SIGKILL
    saved = torch.load(path, weights_only=True)
    assert len(saved["losses"]) == 6
    assert run(path) == run(tmp_path / "whole.pt")


def test_a_checkpoint_that_cannot_be_written_leaves_the_last_one(tmp_path, monkeypatch):
    real_save, written = torch.save, []

    def disk_full_the_second_time(state, file):
        real_save(state, file)
        written.append(len(state["losses"]))
        if len(written) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", disk_full_the_second_time)
    path = tmp_path / "run.pt"
    with pytest.raises(OSError, match="No space left"):
        train(decoder(), batch_at, 3, checkpoint=path, checkpoint_every=1)
    assert len(torch.load(path, weights_only=True)["losses"]) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["run.pt"]


def test_a_finished_run_is_not_trained_again(tmp_path):
    path, model = tmp_path / "run.pt", decoder()
    losses = train(model, batch_at, 3, checkpoint=path)
    steps = []
    again = train(
        decoder(seed=8),
        batch_at,
        3,
        checkpoint=path,
        on_step=lambda *s: steps.append(s),
    )
    assert (again, steps) == (losses, [])


def test_a_checkpoint_of_another_run_or_model_is_refused(tmp_path):
    path = tmp_path / "run.pt"
    train(decoder(), batch_at, 2, checkpoint=path)
    with pytest.raises(ValueError, match="is of a run of 2 steps and n_steps is 5"):
        train(decoder(), batch_at, 5, checkpoint=path)
    with pytest.raises(ValueError, match="is of another model"):
        train(decoder(d_model=18), batch_at, 2, checkpoint=path)


# -- several processes --------------------------------------------------------------------

WORKER = """
import json, sys
from course_lib.hardware import distributed
from course_lib.training import train
from tests.library.test_training import batch_at, decoder
with distributed() as (rank, world):
    model = decoder(seed=3 + rank).double()  # process 0's weights must win
    losses = train(model, batch_at, 4, accumulate=int(sys.argv[1]), checkpoint=sys.argv[2])
    if rank == 0:
        print(json.dumps([world, losses, [p.sum().item() for p in model.parameters()]]))
"""


def test_two_processes_train_what_one_would(tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1"}
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
    ]
    results = {}
    for n_processes, accumulate in ((1, 4), (2, 2)):
        command = [
            *torchrun,
            str(n_processes),
            str(script),
            str(accumulate),
            str(tmp_path / f"{n_processes}.pt"),
        ]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        world, losses, sums = json.loads(done.stdout.splitlines()[-1])
        assert world == n_processes
        results[n_processes] = losses + sums
        assert (
            len(torch.load(tmp_path / f"{n_processes}.pt", weights_only=True)["losses"])
            == 4
        )
    assert results[2] == pytest.approx(results[1], abs=1e-8)


# -- errors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: shift_right(torch.tensor([1, 2]), 0),
            r"shift_right was given shape \(2,\)",
        ),
        (lambda: shift_right(torch.zeros(1, 2), 0), "dtype torch.float32; pass ids"),
        (lambda: inputs_and_targets(torch.tensor([[1]])), "at least 2 places"),
        (lambda: inputs_and_targets(torch.tensor([[1, 2]]), [3]), "each from 0 to 2"),
        (
            lambda: inputs_and_targets(torch.tensor([[1, 2]]), [1, 1]),
            "need one per row",
        ),
        (
            lambda: next_token_loss(torch.zeros(1, 2, 5), torch.zeros(1, 3).long()),
            r"one id per row",
        ),
        (
            lambda: next_token_loss(torch.zeros(1, 1, 5), torch.tensor([[5]])),
            "ids run from 0 to 4",
        ),
        (
            lambda: next_token_loss(torch.zeros(1, 1, 5), torch.tensor([[-1]])),
            "the target -1",
        ),
        (
            lambda: next_token_loss(
                torch.zeros(1, 1, 5), torch.tensor([[1]]), label_smoothing=2.0
            ),
            "label_smoothing was 2.0",
        ),
        (lambda: perplexity(decoder(), []), "no real target"),
        (lambda: train(decoder(), batch_at, 0), "n_steps was 0; it must be at least 1"),
        (lambda: train(decoder(), batch_at, 1, accumulate=0), "accumulate was 0"),
        (lambda: train(decoder(), batch_at, 1, warmup_steps=-1), "warmup_steps was -1"),
        (
            lambda: train(decoder(), batch_at, 1, checkpoint_every=0),
            "checkpoint_every was 0",
        ),
        (
            lambda: train(decoder(), batch_at, 1, dtype=torch.float16),
            "torch.float32 or torch.bfloat16",
        ),
    ],
)
def test_a_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
