"""A trace: everything a picture of a decoder needs, from its real forward passes."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace

import torch
from torch import Tensor, nn

from course_lib.decoder import Decoder
from course_lib.modes import mode
from course_lib.sampling import Sampler
from course_lib.trace.buffer import packed
from course_lib.trace.checks import check_count, check_names, decoder_of, ids_of, naming
from course_lib.trace.recorder import Recorder


@dataclass
class Trace:
    """Numbers of one run of a decoder, recorded while it ran.

    Attributes:
        config: the decoder's settings by name.
        tree: its modules: name, kind, shapes of parameters, number of parameters.
        tokens: ids of the row, the new ones included.
        strings: the same as text.
        n_memory: places of the memory, 0 without one.
        memory_strings: what stands at them, where that is known.
        targets: ids that a training pass had to predict; target_strings: as text.
        masked: False if the causal mask was really left out.
        steps: a dict per pass: phase ("train", "prefill" or "decode"), start and
            n_positions of what was fed, predicted (what each row holds likeliest next,
            id and string), and, where a token was chosen, chosen, candidates (the
            likeliest, id and string), kept (ids that could be drawn), dropped_mass and
            stopped; multiply_adds, milliseconds and difference, each with and without a
            cache where both ran.
        sampler: the settings of what chose the tokens; empty where none was chosen.
        beams: what a beam search kept, a list a step, best first: ids and strings of
            the new tokens, total (sum of log-probabilities), score, finished.
        arrays: tensors by (name, step): scores, allowed, weights of "self" (and
            "cross"), each "self_scores" (layer, head, query, key) and so on;
            "queries" (layer, head, query, d_head), "keys", "values" (layer, kv_head,
            query, d_head) of what was fed; the same three as "cross_queries" and so on,
            keys and values of the memory at the first step only; "residuals" (layer,
            sublayer + 1, query, d_model), the stream before, between and behind the
            sublayers; "normed" (layer, sublayer, 2, query, d_model), what each norm read
            and gave; "hidden" (layer, query, d_ff), what the feed-forward layer's
            last matrix reads; "output_norms" (layer, sublayer, query); "logits"
            (vocab,) of the last row; "losses" (query,) in training.

    Lesson: notebooks/00_start.ipynb
    """

    config: dict
    tree: list[dict]
    tokens: list[int]
    strings: list[str]
    n_memory: int = 0
    memory_strings: list[str] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    target_strings: list[str] = field(default_factory=list)
    masked: bool = True
    steps: list[dict] = field(default_factory=list)
    sampler: dict = field(default_factory=dict)
    beams: list[list[dict]] = field(default_factory=list)
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
        memory_strings: Sequence[str] = (),
        n_beams: int = 0,
        length_penalty: float = 1.0,
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
            memory_strings: what stands at each place of the memory.
            n_beams: also searches the prompt's best continuation of max_new_tokens with
                so many beams; needs eos_id.
            length_penalty: of that search.

        Returns:
            The trace.

        Raises:
            ValueError: model is no decoder, tokens are empty or no ids, max_new_tokens
                is negative, text gives no string, a block returned no attention weights,
                targets do not fit the tokens, memory_strings not the memory, or as
                Decoder.forward and beam_search.

        Lesson: notebooks/00_start.ipynb

        >>> from course_lib.decoder import DecoderConfig
        >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
        >>> trace = Trace.record(decoder, [1, 2, 3], max_new_tokens=2)
        >>> [step["phase"] for step in trace.steps], len(trace.tokens)
        (['prefill', 'decode'], 5)
        >>> tuple(trace.arrays["self_weights", 0].shape)
        (2, 3, 3, 3)
        """
        model, ids, text = decoder_of(model), ids_of(tokens), naming(text)
        check_count("max_new_tokens", max_new_tokens)
        text(ids[0])  # wrong names are named before the model runs
        trace = cls(asdict(model.config), _tree(model), ids, [], masked=masked)
        trace.n_memory = 0 if memory is None else memory.shape[1]
        trace.memory_strings = list(memory_strings)
        check_names(trace.memory_strings, trace.n_memory)
        runner = Recorder(trace, model if masked else _unmasked(model), memory)
        with mode(model, training=False), torch.no_grad():
            if targets is not None:
                runner.train(torch.as_tensor(targets))
            else:
                sampler = Sampler(temperature=0) if sampler is None else sampler
                runner.write(max_new_tokens, sampler, eos_id, use_cache and masked)
            if n_beams:
                search = (n_beams, max_new_tokens, eos_id, length_penalty)
                runner.search(ids, *search, text)
        trace.strings = [text(i) for i in trace.tokens]
        trace.target_strings = [text(i) if i >= 0 else "" for i in trace.targets]
        for step in trace.steps:
            for name in step.keys() & {"predicted", "candidates"}:
                step[name] = [{"id": i, "string": text(i)} for i in step[name]]
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
        index, buffer = packed(self.arrays)
        for entry in index:
            entry["name"], entry["step"] = entry["name"]
        return header | {"index": index}, buffer

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


def _unmasked(model: Decoder) -> Decoder:
    """The same modules and weights under a config that hides nothing."""
    unmasked = copy.copy(model)
    unmasked.config = replace(model.config, causal=False)
    return unmasked


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
