"""Train a translator on pairs: validation, early stop, resume."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from course_lib.apps.translate.batches import PairBatches
from course_lib.apps.translate.translator import Translator
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.encoder import Encoder, EncoderDecoder
from course_lib.hardware import device
from course_lib.tokens import Tokenizer
from course_lib.training import perplexity, train

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Recipe:
    """How a translator is built and trained.

    Attributes:
        d_model: width of both halves.
        n_layers: blocks of each half.
        n_heads: heads of each attention.
        max_length: tokens that a source or a target may have, bos and eos included.
        dropout: share of numbers that training drops.
        n_steps: updates, if no early stop comes first.
        batch_size: pairs an update.
        learning_rate: peak of the schedule.
        check_every: updates between looks at the validation loss.
        patience: looks without a new best after which training stops.
        seed: of the weights, the batches and the dropout.

    Lesson: notebooks/12_translation.ipynb
    """

    d_model: int = 128
    n_layers: int = 2
    n_heads: int = 4
    max_length: int = 128
    dropout: float = 0.0
    n_steps: int = 3000
    batch_size: int = 64
    learning_rate: float = 2e-3
    check_every: int = 250
    patience: int = 4
    seed: int = 0

    def config(self, vocab_size: int) -> DecoderConfig:
        """Return the settings of one half.

        Args:
            vocab_size: ids of its side.
        """
        return DecoderConfig(
            vocab_size,
            self.d_model,
            self.n_layers,
            self.n_heads,
            max_length=self.max_length,
            positions="rotary",
            dropout=self.dropout,
            cross_attention=True,
        )

    def model(self, source: Tokenizer, target: Tokenizer) -> EncoderDecoder:
        """Build the encoder-decoder with its first weights.

        Args:
            source: tokenizer of the sources.
            target: tokenizer of the targets.
        """
        generator = torch.Generator().manual_seed(self.seed)
        encoder = Encoder(self.config(source.vocab_size), generator)
        return EncoderDecoder(
            encoder, Decoder(self.config(target.vocab_size), generator)
        )


@dataclass
class Fit:
    """What a training run came to.

    Attributes:
        losses_nats: one training loss per update.
        checks: (updates so far, validation loss in nats per token) at each look.
        stopped_early: whether patience ran out before n_steps.

    Lesson: notebooks/12_translation.ipynb
    """

    losses_nats: list[float]
    checks: list[tuple[int, float]]
    stopped_early: bool = False

    @property
    def best(self) -> tuple[int, float]:
        """The look with the lowest validation loss; its weights were kept."""
        return min(self.checks, key=lambda check: check[1])


class _Enough(Exception):
    """Patience ran out: raised between two updates, so the weights are whole."""


def fit_translator(
    translator: Translator,
    training: Pairs,
    validation: Pairs,
    recipe: Recipe,
    checkpoint: str | Path | None = None,
    on_step: Callable[[int, float, float | None], None] | None = None,
) -> Fit:
    """Train the translator's model, and leave it with the weights of the best look.

    Args:
        translator: its model is trained where `hardware.device` says.
        training: pairs to learn from.
        validation: other pairs; they decide when to stop and which weights are kept.
        recipe: how long and how.
        checkpoint: file to resume from and to write at every look; None: neither. The
            looks of an earlier part lie beside it, in a file that ends in .best.
        on_step: called as on_step(step, loss_nats, validation_nats or None).

    Returns:
        the losses and the looks.

    Raises:
        ValueError: there is no training or no validation pair, a text holds what its
            tokenizer lacks, or as train.
        RuntimeError: as train.

    Source: Prechelt (1998), Early Stopping - But When?
    Lesson: notebooks/12_translation.ipynb
    """
    sides = translator.source, translator.target
    model = translator.model.to(device())
    batches = PairBatches(training, *sides, recipe.batch_size, recipe.seed)
    held_out = PairBatches(validation, *sides, 4 * recipe.batch_size)
    looks = [held_out(i) for i in range(len(held_out))]
    best = Path(f"{checkpoint}.best") if checkpoint else None
    state = _State([], None) if best is None else _State.read(best, Path(checkpoint))
    losses: list[float] = []

    def after(step: int, loss: float) -> None:
        losses.append(loss)
        found = None
        if (step + 1) % recipe.check_every == 0 or step + 1 == recipe.n_steps:
            found = math.log(perplexity(model, looks))
            state.look(step + 1, found, model, best)
        if on_step is not None:
            on_step(step, loss, found)
        if found is not None and state.stale >= recipe.patience:
            raise _Enough

    torch.manual_seed(recipe.seed)  # dropout draws from torch's own generator
    stopped = bool(state.checks) and state.stale >= recipe.patience
    try:
        if not stopped:
            losses = train(
                model,
                batches,
                recipe.n_steps,
                learning_rate=recipe.learning_rate,
                warmup_steps=min(100, recipe.n_steps // 10),
                checkpoint=checkpoint,
                checkpoint_every=recipe.check_every,
                on_step=after,
            )
    except _Enough:
        stopped = True
    if state.weights is not None:
        model.load_state_dict(state.weights)
    return Fit(losses, state.checks, stopped)


@dataclass
class _State:
    """The looks so far and the best weights, kept beside the checkpoint."""

    checks: list[tuple[int, float]]
    weights: dict | None

    @classmethod
    def read(cls, best: Path, checkpoint: Path) -> "_State":
        if not (best.exists() and checkpoint.exists()):
            return cls([], None)
        stored = torch.load(best, map_location="cpu", weights_only=True)
        return cls([tuple(check) for check in stored["checks"]], stored["weights"])

    @property
    def stale(self) -> int:
        """Looks since the best one."""
        losses = [loss for _, loss in self.checks]
        return len(losses) - 1 - losses.index(min(losses))

    def look(self, step: int, loss: float, model, best: Path | None) -> None:
        # A run that was cut off between its look and its checkpoint looks again.
        self.checks = [check for check in self.checks if check[0] < step]
        self.checks.append((step, loss))
        if self.stale == 0:
            self.weights = {
                name: tensor.detach().cpu().clone()
                for name, tensor in model.state_dict().items()
            }
        if best is not None:
            part = best.with_name(best.name + ".part")
            torch.save({"checks": self.checks, "weights": self.weights}, part)
            part.replace(best)
