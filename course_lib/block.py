"""A block: its sublayers on one residual stream; a stack: the blocks one after another."""

import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.attention import MultiHeadAttention
from course_lib.feed_forward import FeedForward, GatedFeedForward
from course_lib.norms import LayerNorm, RMSNorm
from course_lib.positions import attention_scheme


def make_norm(config) -> nn.Module:
    """Build the norm that a config names: "layer" or "rms".

    Args:
        config: a DecoderConfig (norm, d_model, eps, bias).

    Raises:
        ValueError: config.norm is unknown.

    Lesson: notebooks/07_block.ipynb

    >>> from course_lib.config import DecoderConfig
    >>> make_norm(DecoderConfig.smollm2_135m())
    RMSNorm()
    """
    if config.norm == "layer":
        return LayerNorm(config.d_model, config.eps, config.bias)
    if config.norm == "rms":
        return RMSNorm(config.d_model, config.eps)
    raise ValueError(f"norm was {config.norm!r}; choose 'layer' or 'rms'")


class Block(nn.Module):
    """Self-attention, cross-attention (if the config has it) and feed-forward.

    Pre-norm: residual + sublayer(norm(residual)). Post-norm: norm(residual +
    sublayer(residual)). The sublayers add to the stream; nothing else writes to it.

    Args:
        config: a DecoderConfig.
        layer: index of the block in its stack.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.1 (post-norm); Xiong et
        al. (2020), arXiv:2002.04745 (pre-norm).
    Lesson: notebooks/07_block.ipynb
    """

    def __init__(self, config, layer: int = 0):
        super().__init__()
        self.pre_norm, self.dropout = config.pre_norm, config.dropout
        self.self_norm = make_norm(config)
        self.self_attention = MultiHeadAttention(
            config.d_model,
            config.n_heads,
            config.n_kv_heads,
            config.bias,
            scheme=attention_scheme(config),
            layer=layer,
        )
        if config.cross_attention:
            self.cross_norm = make_norm(config)
            self.cross_attention = MultiHeadAttention(
                config.d_model,
                config.n_heads,
                config.n_kv_heads,
                config.bias,
                layer=layer,
                cross=True,
            )
        else:
            self.cross_norm = self.cross_attention = None
        self.feed_norm = make_norm(config)
        feed_forward = GatedFeedForward if config.gated else FeedForward
        self.feed_forward = feed_forward(
            config.d_model, config.d_ff, config.activation, config.bias
        )

    def forward(
        self,
        residual: Tensor,
        memory: Tensor | None = None,
        allowed: Tensor | None = None,
        memory_allowed: Tensor | None = None,
        positions=None,
        cache=None,
        causal: bool = False,
        record: dict | None = None,
    ) -> Tensor:
        """Let the sublayers add to the residual stream, in order.

        Args:
            residual: (batch, position, d_model).
            memory: (batch, key, d_model) for cross-attention; None if cached.
            allowed: bool, broadcasts to (batch, head, query, key), for self-attention.
            memory_allowed: the same for cross-attention.
            positions: what the position scheme prepared.
            cache: a cache or Step of course_lib.kv_cache.
            causal: as in attention().
            record: a dict that receives the weights as record["self", layer] and
                record["cross", layer], each (batch, head, query, key), and what
                attention() was called with under (..., layer, "inputs").

        Returns:
            residual: (batch, position, d_model), a new tensor.
        """

        def read_self(x: Tensor) -> Tensor:
            reading = {"positions": positions, "cache": cache, "causal": causal}
            return _read(self.self_attention, record, x, allowed=allowed, **reading)

        def read_memory(x: Tensor) -> Tensor:
            reading = {"allowed": memory_allowed, "cache": cache}
            return _read(self.cross_attention, record, x, memory=memory, **reading)

        residual = self._add(residual, self.self_norm, read_self)
        if self.cross_attention is not None:
            residual = self._add(residual, self.cross_norm, read_memory)
        return self._add(residual, self.feed_norm, self.feed_forward)

    def _add(self, residual: Tensor, norm: nn.Module, sublayer) -> Tensor:
        """Add a sublayer's output to the stream, with the norm before or after."""
        outputs = sublayer(norm(residual) if self.pre_norm else residual)
        if self.dropout:
            outputs = F.dropout(outputs, self.dropout, self.training)
        residual = residual + outputs
        return residual if self.pre_norm else norm(residual)


def _read(
    heads: MultiHeadAttention, record: dict | None, x: Tensor, **reading
) -> Tensor:
    """Call an attention, and write down what it did if somebody asked."""
    if record is None:
        return heads(x, **reading)[0]
    kind, inputs = "cross" if heads.cross else "self", {}
    outputs, weights = heads(x, need_weights=True, record=inputs, **reading)
    record[kind, heads.layer] = weights
    record[kind, heads.layer, "inputs"] = inputs
    return outputs


class Stack(nn.Module):
    """The blocks in order and, in a pre-norm stack, the final norm.

    With causal=False in its config the same stack is an encoder.

    Args:
        config: a DecoderConfig.

    Lesson: notebooks/07_block.ipynb
    """

    def __init__(self, config):
        super().__init__()
        self.blocks = nn.ModuleList(
            Block(config, layer) for layer in range(config.n_layers)
        )
        self.final_norm = make_norm(config) if config.pre_norm else None

    def forward(
        self, residual: Tensor, positions: Tensor | None = None, **reading
    ) -> Tensor:
        """Run the blocks.

        Args:
            residual: (batch, position, d_model).
            positions: (position,) or (batch, position) int.
            **reading: as in Block.forward.

        Returns:
            (batch, position, d_model).
        """
        scheme = self.blocks[0].self_attention.scheme  # all layers have the same kind
        if scheme is not None and positions is not None:
            positions = scheme.prepare(positions)
        for block in self.blocks:
            residual = block(residual, positions=positions, **reading)
        return residual if self.final_norm is None else self.final_norm(residual)
