"""Who may begin: first come first served, while the pool can hold the longest text."""

import torch

from course_lib.apps.serving.request import DONE, READING, WAITING, Request
from course_lib.decoder import Decoder
from course_lib.generation.prompts import check_end
from course_lib.kv_cache import BlockPool, PagedCache


class Admission:
    """Give the requests that wait their caches, as far as there is room.

    Args:
        model: the decoder that reads them.
        pool: the blocks of all.
        requests: all that have joined and not left, in order; the server's own list.
        max_rows: most requests that are active at once; None: no limit.

    Source: Kwon et al. (2023), PagedAttention, arXiv:2309.06180, sections 4.4 and 4.5;
        there a request that outgrows the pool is interrupted, here room is promised.
    Lesson: notebooks/13_chat.ipynb
    """

    def __init__(
        self,
        model: Decoder,
        pool: BlockPool,
        requests: list[Request],
        max_rows: int | None,
    ):
        self.model, self.pool = model, pool
        self.requests, self.max_rows = requests, max_rows

    def check(self, request: Request) -> None:
        """Refuse what can never be served.

        Args:
            request: one that has not joined yet.

        Raises:
            ValueError: as Server.join.
        """
        prompt, budget = request.prompt_ids, request.max_new_tokens
        if budget < 1:
            raise ValueError(f"max_new_tokens was {budget}; pass a budget of 1 or more")
        self.model.check(torch.tensor([prompt]))
        if request.eos_id is not None:
            check_end(self.model, request.eos_id)
        limit = self.model.config.max_length
        if len(prompt) + budget > limit:
            raise ValueError(
                f"prompt and new tokens would make a text of {len(prompt) + budget} tokens "
                f"and the model reads {limit}; shorten the prompt or lower max_new_tokens"
            )
        most = self.pool.max_blocks
        if most is not None and self._n_blocks(request) > most:
            raise ValueError(
                f"this text may need {self._n_blocks(request)} blocks and the pool has "
                f"{most}; shorten it, or make max_blocks larger"
            )
        busy = [other.sampler for other in self.requests if other.state != DONE]
        draws = request.sampler.temperature != 0
        if draws and any(request.sampler is sampler for sampler in busy):
            raise ValueError(
                "this sampler serves another request; give each its own, so that it draws "
                "as it would alone"
            )

    def admit(self) -> None:
        """Let those that wait read, in order, while there is room."""
        for request in self.requests:
            if request.state == WAITING:
                n_active = sum(other.active for other in self.requests)
                if n_active == self.max_rows or not self._start(request):
                    return

    def _start(self, request: Request) -> bool:
        """Give a request its cache, or say that the pool has no room yet."""
        cache = self._beginning(request.prompt_ids)
        needed = self._n_blocks(request) - len(cache.blocks[0])
        for other in self.requests:
            if other.state == DONE and self._n_unpromised() < needed:
                other.cache.crop(0)
        if self._n_unpromised() < needed:
            cache.crop(0)
            return False
        request.cache, request.state = cache, READING
        request.n_shared = request.n_fed
        return True

    def _beginning(self, prompt: list[int]) -> PagedCache:
        """Share the whole blocks of the longest beginning of a prompt that is here."""
        new = self.model.new_cache(1, "paged", pool=self.pool)
        caches = [(new, 0)]
        for other in self.requests:
            if other.cache is not None:
                # The prompt's last token is always fed: its logits choose the next one.
                n = _n_common(prompt[:-1], other.ids[: other.n_fed])
                caches.append((other.cache, n - n % self.pool.block_size))
        cache, n_shared = max(caches, key=lambda pair: pair[1])
        return cache.fork(n_shared)

    def _n_blocks(self, request: Request) -> int:
        """Blocks of the longest text it may become; its last new id is never fed."""
        n_tokens = len(request.prompt_ids) + request.max_new_tokens - 1
        return -(-n_tokens // self.pool.block_size)

    def _n_unpromised(self) -> float:
        """Blocks that are free and that no active request may still need."""
        promised = sum(
            self._n_blocks(request) - len(request.cache.blocks[0])
            for request in self.requests
            if request.active
        )
        return self.pool.n_left - promised


def _n_common(first: list[int], second: list[int]) -> int:
    """Count the ids at the start that two lists have in common."""
    n = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        n += 1
    return n
