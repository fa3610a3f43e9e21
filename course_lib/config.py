"""One config for four families of decoders."""

from dataclasses import dataclass

from course_lib.feed_forward import ACTIVATIONS
from course_lib.positions import SCHEMES

SIZES = (
    "vocab_size",
    "d_model",
    "n_layers",
    "n_heads",
    "n_kv_heads",
    "d_ff",
    "max_length",
    "max_distance",
)
CHOICES = {
    "positions": SCHEMES,
    "norm": ("layer", "rms"),
    "activation": tuple(ACTIVATIONS),
    "rotary_pairing": ("half", "interleaved"),
}


@dataclass(frozen=True)
class DecoderConfig:
    """Everything that tells one decoder from another.

    Attributes:
        vocab_size, d_model, n_layers, n_heads: sizes; n_heads divides d_model.
        n_kv_heads: key/value heads; divides n_heads; None: n_heads.
        d_ff: hidden width of the feed-forward network; None: 4 * d_model.
        max_length: most tokens in a row.
        positions: "learned", "sinusoidal", "rotary", "relative", "alibi" or "none".
        norm: "layer" or "rms".
        pre_norm: norm before each sublayer and once at the end; else after each.
        activation: "relu", "gelu", "gelu_tanh" or "silu".
        gated: gate the feed-forward network.
        bias: give projections and layer norms a bias.
        cross_attention: read a memory in every block.
        causal: hide the future; False makes an encoder.
        window: keys a query reads at most looking back, itself included; None: all.
            Without the causal mask it still reads all that comes after.
        dropout: probability of dropping an embedding or a sublayer's output in training.
        tie_weights: use the embedding as the head.
        embed_scale: multiply embeddings by sqrt(d_model).
        eps: of the norms.
        rotary_base, rotary_pairing: of rotary positions.
        max_distance: of relative positions.

    Raises:
        ValueError: a size is smaller than 1 or does not divide, dropout is not in
            [0, 1), or a name is unknown.

    Lesson: notebooks/08_decoder.ipynb

    >>> DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3).d_ff
    24
    """

    vocab_size: int
    d_model: int
    n_layers: int
    n_heads: int
    n_kv_heads: int | None = None
    d_ff: int | None = None
    max_length: int = 1024
    positions: str = "learned"
    norm: str = "layer"
    pre_norm: bool = True
    activation: str = "gelu"
    gated: bool = False
    bias: bool = True
    cross_attention: bool = False
    causal: bool = True
    window: int | None = None
    dropout: float = 0.0
    tie_weights: bool = True
    embed_scale: bool = False
    eps: float = 1e-5
    rotary_base: float = 10000.0
    rotary_pairing: str = "half"
    max_distance: int = 16

    def __post_init__(self) -> None:
        """Fill in the sizes that follow from others, then check everything."""
        if self.n_kv_heads is None:
            object.__setattr__(self, "n_kv_heads", self.n_heads)
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        self._check_sizes()
        self._check_choices()

    def _check_sizes(self) -> None:
        for name in SIZES:
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} was {getattr(self, name)}; a size is at least 1"
                )
        if self.d_model % self.n_heads or self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"d_model={self.d_model}, n_heads={self.n_heads}, n_kv_heads={self.n_kv_heads} "
                f"were given; n_heads must divide d_model and n_kv_heads must divide n_heads"
            )

    def _check_choices(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} was {getattr(self, name)!r}; choose one of {', '.join(known)}"
                )
        if not 0.0 <= self.dropout < 1.0:
            raise ValueError(
                f"dropout was {self.dropout}; it is a probability, from 0 to below 1"
            )
        if self.window is not None and self.window < 1:
            raise ValueError(
                f"window was {self.window}; it counts the query itself, at least 1"
            )

    @property
    def d_head(self) -> int:
        """Width of one head."""
        return self.d_model // self.n_heads

    # A change goes in before the sizes that follow from others are filled in.

    @classmethod
    def original(cls, **changes) -> "DecoderConfig":
        """The base model of Vaswani et al. (2017), arXiv:1706.03762, table 3."""
        preset = dict(
            vocab_size=37000,
            d_model=512,
            n_layers=6,
            n_heads=8,
            max_length=512,
            positions="sinusoidal",
            pre_norm=False,
            activation="relu",
            cross_attention=True,
            dropout=0.1,
            embed_scale=True,
        )
        return cls(**{**preset, **changes})

    @classmethod
    def gpt2_small(cls, **changes) -> "DecoderConfig":
        """GPT-2 with 124 million parameters (Radford et al., 2019, table 2)."""
        preset = dict(
            vocab_size=50257,
            d_model=768,
            n_layers=12,
            n_heads=12,
            activation="gelu_tanh",
            dropout=0.1,
        )
        return cls(**{**preset, **changes})

    @classmethod
    def smollm2_135m(cls, **changes) -> "DecoderConfig":
        """SmolLM2-135M (Ben Allal et al., 2025, arXiv:2502.02737)."""
        preset = dict(
            vocab_size=49152,
            d_model=576,
            n_layers=30,
            n_heads=9,
            n_kv_heads=3,
            d_ff=1536,
            max_length=8192,
            positions="rotary",
            norm="rms",
            activation="silu",
            gated=True,
            bias=False,
            rotary_base=100000.0,
        )
        return cls(**{**preset, **changes})

    @classmethod
    def whisper_tiny(cls, **changes) -> "DecoderConfig":
        """The decoder of Whisper tiny.en (Radford et al., 2022, arXiv:2212.04356, table 1)."""
        preset = dict(
            vocab_size=51864,
            d_model=384,
            n_layers=4,
            n_heads=6,
            max_length=448,
            cross_attention=True,
        )
        return cls(**{**preset, **changes})
