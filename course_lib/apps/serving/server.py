"""A server: requests join and leave at any step, and share one pool of pages."""

from collections.abc import Sequence

from torch import Tensor

from course_lib.apps.serving.admission import Admission
from course_lib.apps.serving.request import DONE, LEFT, Request
from course_lib.decoder import Decoder
from course_lib.generation import pad_rows
from course_lib.generation.prompts import last_logits, prompt_ids_of
from course_lib.kv_cache import BlockPool, PagedCache
from course_lib.sampling import Sampler
from course_lib.sampling.filters import check_logits


class Server:
    """Continue many texts at once: every step is one forward pass over all that are active.

    A request that joins waits until the pool can hold its longest possible text, takes
    over the blocks of the longest beginning that another request has in common with it,
    reads the rest of its prompt in chunks, and writes one token a step. Each gets the
    tokens that it would get alone, up to rounding. What is done keeps its blocks, for
    others that begin alike, until they are needed or it leaves.

    Args:
        model: a Decoder without cross-attention.
        block_size: tokens of a block.
        max_blocks: blocks of the pool; None: it grows as needed.
        max_rows: most requests that are active at once; None: no limit.
        chunk: most tokens of a prompt that one step reads.

    Attributes:
        requests: all that have not left, in the order they joined.
        n_forwards: forward passes so far.
        n_fed: tokens computed, and n_places: the same with padding.

    Raises:
        ValueError: the model has cross-attention or a window, or a size is smaller than 1.

    Source: Yu et al. (2022), Orca, OSDI, section 3 (batching by iteration); Kwon et al.
        (2023), PagedAttention, arXiv:2309.06180, section 4.
    Lesson: notebooks/13_chat.ipynb

    >>> from course_lib.decoder import DecoderConfig
    >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> server = Server(decoder)
    >>> first, second = server.join([1, 2, 3], 4), server.join([5], 2)
    >>> server.run()
    >>> len(first.new_ids), len(second.new_ids), server.n_forwards
    (4, 2, 4)
    """

    def __init__(
        self,
        model: Decoder,
        block_size: int = 16,
        max_blocks: int | None = None,
        max_rows: int | None = None,
        chunk: int = 32,
    ):
        config, weight = model.config, model.embedding.weight
        if config.cross_attention or config.window is not None:
            raise ValueError(
                "a server was given a decoder with cross-attention or a window; it keeps "
                "whole texts of decoders without a memory"
            )
        for name, size in (("max_rows", max_rows), ("chunk", chunk)):
            if size is not None and size < 1:
                raise ValueError(f"{name} was {size}; it must be at least 1")
        self.model, self.chunk = model, chunk
        self.pool = BlockPool(
            config.n_layers,
            config.n_kv_heads,
            config.d_head,
            block_size,
            max_blocks,
            weight.dtype,
            weight.device,
        )
        self.requests: list[Request] = []
        self.admission = Admission(model, self.pool, self.requests, max_rows)
        self.n_forwards = self.n_fed = self.n_places = 0

    def join(
        self,
        prompt_ids: Sequence[int],
        max_new_tokens: int,
        sampler: Sampler | None = None,
        eos_id: int | None = None,
    ) -> Request:
        """Add a request; the next step may already read it.

        Args:
            prompt_ids: (position,) ids; of a later turn all ids of the conversation.
            max_new_tokens: budget, at least 1.
            sampler: one of its own; None: the largest logit.
            eos_id: stop after this id; None: never stop early.

        Returns:
            the request, whose new_ids grow with every step.

        Raises:
            ValueError: the prompt is empty or holds an unknown id, the budget is smaller
                than 1, the text can outgrow the model or the pool, or a sampler that
                draws serves another request already.
        """
        request = Request(
            prompt_ids_of(prompt_ids),
            max_new_tokens,
            Sampler(temperature=0) if sampler is None else sampler,
            eos_id,
        )
        self.admission.check(request)
        self.requests.append(request)
        return request

    def leave(self, request: Request) -> None:
        """Forget a request, whatever its state; its blocks serve others.

        Args:
            request: what join returned.

        Raises:
            ValueError: it is not here.
        """
        if request not in self.requests:
            raise ValueError(
                "this request is not here: it left, or joined another server"
            )
        self.requests.remove(request)
        if request.cache is not None:
            request.cache.crop(0)
        request.cache, request.state = None, LEFT

    def step(self) -> dict[Request, int]:
        """Feed every active request once, in one forward pass.

        An exception on the way, KeyboardInterrupt too, forgets what this step fed for
        those that had not written yet, and the next step feeds it again. What others
        wrote stands in their new_ids. Only a draw that was cut off is drawn anew.

        Returns:
            the new id of each request that wrote one.

        Raises:
            ValueError: a request's logits are NaN or infinite.
        """
        self.admission.admit()
        active = [request for request in self.requests if request.active]
        written: dict[Request, int] = {}
        before = [request.n_fed for request in active]
        try:
            logits = self._forward(active) if active else None
            for row, request in enumerate(active):
                if request.n_fed == len(request.ids):
                    written[request] = request.write(logits[row : row + 1])
        except BaseException:
            for request, n_tokens in zip(active, before, strict=True):
                if request not in written:
                    request.cache.crop(n_tokens)
            raise
        return written

    def run(self) -> None:
        """Step until every request is done.

        Raises:
            ValueError: as step.
        """
        while any(request.state != DONE for request in self.requests):
            self.step()

    @property
    def bytes(self) -> int:
        """Bytes of the blocks that are held, each counted once."""
        slots = self.pool.slots
        return self.pool.n_used * slots[:1].numel() * slots.element_size()

    # -- the parts of a step -------------------------------------------------------------

    def _forward(self, active: list[Request]) -> Tensor:
        """Feed each its next chunk; return the scores after it, (batch, vocab)."""
        feed = [request.next_chunk(self.chunk) for request in active]
        tokens, lengths = pad_rows(feed, self.model.embedding.weight.device)
        with PagedCache.together([request.cache for request in active]) as batch:
            logits = last_logits(self.model, tokens, lengths, batch, None, None)
        check_logits(logits)
        self.n_forwards += 1
        self.n_fed += sum(map(len, feed))
        self.n_places += tokens.numel()
        return logits
