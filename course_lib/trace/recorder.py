"""Feeds a decoder step by step, and writes into a trace what it does."""

import copy
import time

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from course_lib.attention import attention_scores
from course_lib.decoder import Decoder
from course_lib.generation import beam_search
from course_lib.masks import causal_mask
from course_lib.sampling import Sampler
from course_lib.training import IGNORED

SETTINGS = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "suppress")
SHOWN_IDS = 64  # of those that may be drawn from a large vocabulary
N_CANDIDATES = 12


class Recorder:
    """Feeds the model step by step and fills a trace."""

    def __init__(self, trace, model: Decoder, memory: Tensor | None):
        self.trace, self.model, self.memory = trace, model, memory
        self.device = model.embedding.weight.device

    def train(self, targets: Tensor) -> None:
        """Record one pass over all positions with its loss per position."""
        if targets.shape != (len(self.trace.tokens),):
            raise ValueError(
                f"targets have shape {tuple(targets.shape)}; pass one id for each of the "
                f"{len(self.trace.tokens)} tokens"
            )
        self.trace.targets = targets.tolist()
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
        if max_new_tokens:
            self.trace.sampler = _settings(sampler)
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

    def search(
        self,
        prompt: list[int],
        n_beams: int,
        max_new_tokens: int,
        eos_id: int | None,
        length_penalty: float,
        text,
    ) -> None:
        """Record what a beam search keeps after each step."""
        if eos_id is None:
            raise ValueError("beams need an eos_id: say which id finishes a beam")
        kept: list = []
        beam_search(
            *(self.model, prompt, n_beams, max_new_tokens, eos_id, length_penalty),
            memory=self.memory,
            record=kept,
        )
        self.trace.beams = [
            [
                {
                    "ids": ids,
                    "strings": [text(i) for i in ids],
                    "total": total,
                    "score": total / len(ids) ** length_penalty,
                    "finished": ids[-1] == eos_id,
                }
                for ids, total in step
            ]
            for step in kept
        ]

    def _pass(self, phase: str, start: int, fed: list[int], cache) -> Tensor:
        """Run one forward pass twice: once to time it as it is used, once to record."""
        step = len(self.trace.steps)
        memory = self.memory if cache is None or cache.memory is None else None
        feed = torch.tensor([fed], device=self.device)
        if step == 0:
            self.model(feed, self.memory)  # the first pass of all is slow for once
        spare = copy.deepcopy(cache)  # the timed pass may not fill what is recorded
        before = time.perf_counter()
        plain = self.model(feed, memory, cache=spare)
        milliseconds = (time.perf_counter() - before) * 1000
        record, seen = {}, {}
        hooks = _watch(self.model, seen)
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
            "predicted": logits[0].argmax(-1).tolist(),
        }
        if cache is not None:
            self._compare(entry, plain)
        self.trace.steps.append(entry)
        self._keep(step, record, seen, len(fed))
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

    def _keep(self, step: int, record: dict, seen: dict, n_fed: int) -> None:
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
        if "cross" in kinds:
            mine = [record["cross", layer, "inputs"] for layer in range(n_layers)]
            for name in ("queries", "keys", "values")[: 3 if step == 0 else 1]:
                whole = torch.cat([i[name] for i in mine])
                arrays[f"cross_{name}", step] = whole.cpu()
        for name, layers in seen.items():
            arrays[name, step] = torch.stack(layers).cpu()

    def _choose(self, logits: Tensor, sampler: Sampler, eos_id: int | None) -> bool:
        """Choose the next token as the sampler does; return whether writing is over."""
        trace, step = self.trace, len(self.trace.steps) - 1
        history = [trace.tokens]
        kept = sampler.filtered(logits, history)[0]
        chosen = int(sampler(logits, history)[0])
        warm = (
            _without_filters(sampler).filtered(logits, history)[0].float().softmax(-1)
        )
        trace.arrays["logits", step] = logits[0].cpu()
        likeliest = logits[0].topk(min(N_CANDIDATES, logits.shape[-1])).indices.tolist()
        trace.tokens = [*trace.tokens, chosen]
        trace.steps[step].update(
            chosen=chosen,
            candidates=likeliest + [chosen] * (chosen not in likeliest),
            kept=kept.isfinite().nonzero().flatten().tolist()[:SHOWN_IDS],
            n_kept=int(kept.isfinite().sum()),
            dropped_mass=warm[kept.isinf()].sum().item(),
            stopped=chosen == eos_id,
        )
        return chosen == eos_id


def _settings(sampler: Sampler) -> dict:
    """Give the settings of a sampler that are on, as plain values."""
    found = {name: getattr(sampler, name, None) for name in SETTINGS}
    if found["suppress"] is not None:
        found["suppress"] = [int(i) for i in found["suppress"]]
    return {name: value for name, value in found.items() if value is not None}


def _without_filters(sampler: Sampler) -> Sampler:
    """Copy a sampler without top-k, top-p and min-p: what they drop is measured on it."""
    temperature = sampler.temperature if sampler.temperature > 0 else 1.0
    return Sampler(temperature, repetition_penalty=sampler.repetition_penalty)


def _allowed(inputs: dict, weights: Tensor) -> Tensor:
    """What a recorded attention was allowed to read, as (query, key) bool."""
    n_queries, n_keys = weights.shape[-2:]
    if inputs["allowed"] is not None:
        return inputs["allowed"].expand(1, 1, n_queries, n_keys)[0, 0]
    if inputs["causal"]:
        return causal_mask(n_queries, n_keys)
    return torch.ones(n_queries, n_keys, dtype=torch.bool)


def _watch(model: Decoder, seen: dict) -> list:
    """Hook every block, so that seen lists what each layer's sublayers did.

    "residuals" (sublayer + 1, query, d_model), "normed" (sublayer, 2, query, d_model),
    "output_norms" (sublayer, query) and "hidden" (query, d_ff), one of each a layer.
    """
    hooks = []
    for block in model.stack.blocks:
        outputs, stream, normed = [], [], []
        parts = (block.self_attention, block.cross_attention, block.feed_forward)
        norms = (block.self_norm, block.cross_norm, block.feed_norm)

        def begin(_block, inputs, outputs=outputs, stream=stream, normed=normed):
            outputs.clear()
            normed.clear()
            stream[:] = [] if _block.pre_norm else [inputs[0][0]]

        def keep_norm(
            _norm, inputs, output, stream=stream, normed=normed, before=block.pre_norm
        ):
            normed.append(torch.stack([inputs[0][0], output[0]]))
            stream.append(normed[-1][0 if before else 1])

        def keep_output(_part, _inputs, output, outputs=outputs):
            output = output[0] if isinstance(output, tuple) else output
            outputs.append(output[0])

        def end(_block, _inputs, output, outputs=outputs, stream=stream, normed=normed):
            stream += [output[0]] if _block.pre_norm else []
            lengths = torch.stack(outputs).norm(dim=-1)
            seen.setdefault("output_norms", []).append(lengths)
            seen.setdefault("residuals", []).append(torch.stack(stream))
            seen.setdefault("normed", []).append(torch.stack(normed))

        def keep_hidden(_matrix, inputs):
            seen.setdefault("hidden", []).append(inputs[0][0])

        hooks.append(block.register_forward_pre_hook(begin))
        hooks += [p.register_forward_hook(keep_output) for p in parts if p is not None]
        hooks += [n.register_forward_hook(keep_norm) for n in norms if n is not None]
        to_output = block.feed_forward.to_output
        hooks.append(to_output.register_forward_pre_hook(keep_hidden))
        hooks.append(block.register_forward_hook(end))
    return hooks
