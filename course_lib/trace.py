"""A trace: everything a picture of a decoder needs, from its real forward passes."""

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from course_lib.attention import attention_scores
from course_lib.decoder import Decoder
from course_lib.masks import causal_mask
from course_lib.modes import mode
from course_lib.sampling import Sampler
from course_lib.training import IGNORED

SHOWN_LOGITS = 64  # of a large vocabulary, a picture needs only the largest


@dataclass
class Trace:
    """Numbers of one run of a decoder, recorded while it ran.

    Attributes:
        config: the decoder's settings by name.
        tree: its modules: name, kind, shapes of parameters, number of parameters.
        tokens: ids of the row, the new ones included.
        strings: the same as text.
        n_memory: places of the memory, 0 without one.
        masked: False if the causal mask was really left out.
        steps: a dict per pass: phase ("train", "prefill" or "decode"), start and
            n_positions of what was fed, and, where a token was chosen, chosen, kept
            (ids that could be drawn), dropped_mass and stopped; multiply_adds,
            milliseconds and difference, each with and without a cache where both ran.
        arrays: tensors by (name, step): scores, allowed, weights of "self" (and
            "cross"), each "self_scores" (layer, head, query, key) and so on;
            "queries" (layer, head, query, d_head), "keys", "values" (layer, kv_head,
            query, d_head) of what was fed; "output_norms" (layer, sublayer, query);
            "logits" of the last row with their "ids"; "losses" (query,) in training.

    Lesson: notebooks/00_start.ipynb
    """

    config: dict
    tree: list[dict]
    tokens: list[int]
    strings: list[str]
    n_memory: int = 0
    masked: bool = True
    steps: list[dict] = field(default_factory=list)
    arrays: dict[tuple[str, int], Tensor] = field(default_factory=dict)

    @classmethod
    def record(
        cls,
        model: Decoder,
        tokens: Sequence[int] | Tensor,
        memory: Tensor | None = None,
        max_new_tokens: int = 0,
        sampler: Sampler | None = None,
        eos_id: int | None = None,
        targets: Sequence[int] | Tensor | None = None,
        use_cache: bool = True,
        masked: bool = True,
        text: Callable[[int], str] = str,
    ) -> "Trace":
        """Run the model and write down what it did.

        Args:
            model: a Decoder, or an EncoderDecoder whose decoder writes; its weights and
                mode are left as they are.
            tokens: (position,) ids of the prompt, or of the training inputs.
            memory: (1, key, d_model) for cross-attention.
            max_new_tokens: tokens to write after the prompt.
            sampler: chooses them; None: the largest logit.
            eos_id: stop after this id.
            targets: (position,) ids to predict; records one training pass with its
                losses and writes nothing.
            use_cache: write with a cache, and compare each step with the same step
                without one.
            masked: False runs the model without its causal mask (and without a cache,
                which has no meaning then).
            text: turns an id into what a picture shows.

        Returns:
            The trace.

        Raises:
            ValueError: a block returned no attention weights, targets do not fit the
                tokens, or as Decoder.forward.

        Lesson: notebooks/00_start.ipynb

        >>> from course_lib.decoder import DecoderConfig
        >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
        >>> trace = Trace.record(decoder, [1, 2, 3], max_new_tokens=2)
        >>> [step["phase"] for step in trace.steps], len(trace.tokens)
        (['prefill', 'decode'], 5)
        >>> tuple(trace.arrays["self_weights", 0].shape)
        (2, 3, 3, 3)
        """
        model = getattr(model, "decoder", model)
        ids = torch.as_tensor(tokens).tolist()
        trace = cls(asdict(model.config), _tree(model), ids, [], masked=masked)
        trace.n_memory = 0 if memory is None else memory.shape[1]
        runner = _Runner(trace, model if masked else _unmasked(model), memory)
        with mode(model, training=False), torch.no_grad():
            if targets is not None:
                runner.train(torch.as_tensor(targets))
            else:
                sampler = Sampler(temperature=0) if sampler is None else sampler
                runner.write(max_new_tokens, sampler, eos_id, use_cache and masked)
        trace.strings = [text(i) for i in trace.tokens]
        return trace

    def to_buffer(self) -> tuple[dict, bytes]:
        """Pack the trace for a picture: a header of plain values and one float32 buffer.

        Returns:
            header: all fields but the arrays, and "index": name, step, shape and
                offset (in floats) of each array.
            buffer: the arrays as little-endian float32, one after another.

        Lesson: notebooks/00_start.ipynb
        """
        header = {k: v for k, v in self.__dict__.items() if k != "arrays"}
        header["index"], parts, offset = [], [], 0
        for (name, step), array in self.arrays.items():
            entry = {
                "name": name,
                "step": step,
                "shape": list(array.shape),
                "offset": offset,
            }
            header["index"].append(entry)
            parts.append(array.float().contiguous().numpy().astype("<f4").tobytes())
            offset += array.numel()
        return header, b"".join(parts)

    @classmethod
    def from_buffer(cls, header: dict, buffer: bytes) -> "Trace":
        """Unpack what to_buffer packed.

        Args:
            header: as to_buffer returned it.
            buffer: as to_buffer returned it.

        Returns:
            A trace with the same fields; all its arrays are float32.

        Lesson: notebooks/00_start.ipynb
        """
        fields = {k: v for k, v in header.items() if k != "index"}
        floats = (
            torch.frombuffer(bytearray(buffer), dtype=torch.float32) if buffer else None
        )
        trace = cls(**fields)
        for entry in header["index"]:
            n = int(torch.tensor(entry["shape"]).prod()) if entry["shape"] else 1
            part = (
                floats[entry["offset"] : entry["offset"] + n] if n else torch.zeros(0)
            )
            trace.arrays[entry["name"], entry["step"]] = part.reshape(entry["shape"])
        return trace


class _Runner:
    """Feeds the model step by step and fills a trace."""

    def __init__(self, trace: Trace, model: Decoder, memory: Tensor | None):
        self.trace, self.model, self.memory = trace, model, memory
        self.device = model.embedding.weight.device

    def train(self, targets: Tensor) -> None:
        """Record one pass over all positions with its loss per position."""
        if targets.shape != (len(self.trace.tokens),):
            raise ValueError(
                f"targets have shape {tuple(targets.shape)}; pass one id for each of the "
                f"{len(self.trace.tokens)} tokens"
            )
        logits = self._pass("train", 0, self.trace.tokens, None)
        losses = nn.functional.cross_entropy(
            logits[0].float().cpu(), targets, ignore_index=IGNORED, reduction="none"
        )
        self.trace.arrays["losses", 0] = losses

    def write(
        self, max_new_tokens: int, sampler: Sampler, eos_id: int | None, use_cache: bool
    ) -> None:
        """Record a prefill, then the passes that choose one token each."""
        cache, start, phase = None, 0, "prefill"
        if use_cache:
            room = len(self.trace.tokens) + max_new_tokens
            cache = self.model.new_cache(1, max_length=room)
        for _ in range(max(max_new_tokens, 1)):
            tokens = self.trace.tokens
            fed_from = start if use_cache else 0
            logits = self._pass(phase, fed_from, tokens[fed_from:], cache)
            if max_new_tokens == 0:
                return
            start, phase = len(tokens), "decode"
            if self._choose(logits[:, -1], sampler, eos_id):
                return

    def _pass(self, phase: str, start: int, fed: list[int], cache) -> Tensor:
        """Run one forward pass twice: once to time it as it is used, once to record."""
        step = len(self.trace.steps)
        memory = self.memory if cache is None or cache.memory is None else None
        feed = torch.tensor([fed], device=self.device)
        before = time.perf_counter()
        plain = self.model(feed, memory, cache=cache)
        milliseconds = (time.perf_counter() - before) * 1000
        if cache is not None:
            cache.crop(start)
        record, norms = {}, {}
        hooks = _watch_outputs(self.model, norms)
        try:
            with FlopCounterMode(display=False) as counter:
                logits = self.model(feed, memory, cache=cache, record=record)
        finally:
            for hook in hooks:
                hook.remove()
        kept = "cached" if cache is not None else "uncached"
        entry = {
            "phase": phase,
            "start": start,
            "n_positions": len(fed),
            "multiply_adds": {kept: counter.get_total_flops() // 2},
            "milliseconds": {kept: milliseconds},
        }
        if cache is not None:
            self._compare(entry, plain)
        self.trace.steps.append(entry)
        self._keep(step, record, norms, len(fed))
        return logits

    def _compare(self, entry: dict, cached: Tensor) -> None:
        """Run the same step without a cache; note work, time and the largest difference."""
        everything = torch.tensor([self.trace.tokens], device=self.device)
        before = time.perf_counter()
        uncached = self.model(everything, self.memory)
        entry["milliseconds"]["uncached"] = (time.perf_counter() - before) * 1000
        with FlopCounterMode(display=False) as counter:
            self.model(everything, self.memory, record={})
        entry["multiply_adds"]["uncached"] = counter.get_total_flops() // 2
        entry["difference"] = (uncached[:, -1] - cached[:, -1]).abs().max().item()

    def _keep(self, step: int, record: dict, norms: dict, n_fed: int) -> None:
        """Stack what the layers recorded into arrays with a layer axis."""
        arrays, n_layers = self.trace.arrays, self.model.config.n_layers
        kinds = ["self", "cross"] if self.model.config.cross_attention else ["self"]
        for kind in kinds:
            layers = [record.get((kind, layer)) for layer in range(n_layers)]
            if any(weights is None for weights in layers):
                missing = next(i for i, weights in enumerate(layers) if weights is None)
                raise ValueError(
                    f"block {missing} returned no attention weights ({kind}); its attention "
                    f"must return (outputs, weights) when weights are asked for"
                )
            inputs = [record[kind, layer, "inputs"] for layer in range(n_layers)]
            scores = [
                attention_scores(i["queries"], i["keys"], i["bias"]) for i in inputs
            ]
            arrays[f"{kind}_weights", step] = torch.cat(layers).cpu()
            arrays[f"{kind}_scores", step] = torch.cat(scores).cpu()
            arrays[f"{kind}_allowed", step] = _allowed(inputs[0], layers[0]).cpu()
        mine = [record["self", layer, "inputs"] for layer in range(n_layers)]
        arrays["queries", step] = torch.cat([i["queries"] for i in mine]).cpu()
        for name in ("keys", "values"):
            arrays[name, step] = torch.cat([i[name][:, :, -n_fed:] for i in mine]).cpu()
        rows = [torch.stack(norms[layer]) for layer in range(n_layers)]
        arrays["output_norms", step] = torch.stack(rows).cpu()

    def _choose(self, logits: Tensor, sampler: Sampler, eos_id: int | None) -> bool:
        """Choose the next token as the sampler does; return whether writing is over."""
        trace, step = self.trace, len(self.trace.steps) - 1
        history = [trace.tokens]
        kept = sampler.filtered(logits, history)[0]
        chosen = int(sampler(logits, history)[0])
        warm = (
            _without_filters(sampler).filtered(logits, history)[0].float().softmax(-1)
        )
        largest = logits[0].topk(min(SHOWN_LOGITS, logits.shape[-1]))
        trace.arrays["logits", step] = largest.values.cpu()
        trace.arrays["ids", step] = largest.indices.cpu()
        trace.tokens = [*trace.tokens, chosen]
        trace.steps[step].update(
            chosen=chosen,
            kept=kept.isfinite().nonzero().flatten().tolist()[:SHOWN_LOGITS],
            n_kept=int(kept.isfinite().sum()),
            dropped_mass=warm[kept.isinf()].sum().item(),
            stopped=chosen == eos_id,
        )
        return chosen == eos_id


def _without_filters(sampler: Sampler) -> Sampler:
    """Copy a sampler without top-k, top-p and min-p: what they drop is measured on it."""
    temperature = sampler.temperature if sampler.temperature > 0 else 1.0
    return Sampler(temperature, repetition_penalty=sampler.repetition_penalty)


def _unmasked(model: Decoder) -> Decoder:
    """The same modules and weights under a config that hides nothing."""
    unmasked = copy.copy(model)
    unmasked.config = replace(model.config, causal=False)
    return unmasked


def _allowed(inputs: dict, weights: Tensor) -> Tensor:
    """What a recorded attention was allowed to read, as (query, key) bool."""
    n_queries, n_keys = weights.shape[-2:]
    if inputs["allowed"] is not None:
        return inputs["allowed"].expand(1, 1, n_queries, n_keys)[0, 0]
    if inputs["causal"]:
        return causal_mask(n_queries, n_keys)
    return torch.ones(n_queries, n_keys, dtype=torch.bool)


def _watch_outputs(model: Decoder, norms: dict) -> list:
    """Hook every sublayer, so that norms[layer] lists its outputs' norms in order."""
    hooks = []
    for layer, block in enumerate(model.stack.blocks):
        norms[layer] = []

        def keep(_module, _inputs, output, layer=layer):
            outputs = output[0] if isinstance(output, tuple) else output
            norms[layer].append(outputs[0].norm(dim=-1))

        for part in (block.self_attention, block.cross_attention, block.feed_forward):
            if part is not None:
                hooks.append(part.register_forward_hook(keep))
    return hooks


def _tree(model: nn.Module) -> list[dict]:
    """Describe every module: name, kind, its own parameters' shapes, all parameters."""
    return [
        {
            "name": name,
            "kind": type(part).__name__,
            "shapes": {
                n: list(p.shape) for n, p in part.named_parameters(recurse=False)
            },
            "n_parameters": sum(p.numel() for p in part.parameters()),
        }
        for name, part in model.named_modules()
    ]
