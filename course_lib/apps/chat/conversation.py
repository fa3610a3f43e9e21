"""A conversation on one cache: each turn feeds only what the cache lacks."""

import time
from collections.abc import Iterator, Sequence
from itertools import chain

from course_lib.apps.chat.exchange import Exchange, forgotten
from course_lib.apps.chat.stops import check_stops, until
from course_lib.decoder import Decoder
from course_lib.generation import stream
from course_lib.pretrained.chat import DEFAULT_SYSTEM, ChatTokenizer
from course_lib.sampling import Sampler
from course_lib.tokens import TextDecoder


class Conversation:
    """Speak with a model in turns; the cache keeps what was said.

    `ids` is the conversation as the model reads it, and the cache always holds a
    beginning of it: a turn feeds the rest, counted in `fed`. When an answer ends, for
    whatever `reason`, its turn is closed, and of the ids that the model chose those
    stay that hold the text given out. What a stop string cut off, and half a character
    at the end, is forgotten by ids and cache. Ids are never made of the answer's text.

    Args:
        model: a Decoder.
        tokenizer: a ChatTokenizer of the same vocabulary.
        system: the first turn; None: the model's own.
        sampler: chooses each id; None: the largest logit. A repetition penalty counts
            only what is fed and written in one turn.
        max_new_tokens: most ids of an answer, 0 or more.
        stops: texts that end an answer and are not shown.
        max_length: most tokens of a conversation, an answer included; None: the
            model's. Where a new turn does not fit, the oldest are forgotten, which
            `notes` tells.

    Raises:
        ValueError: a stop is empty, the budget negative, max_length is more than the
            model's, or the tokenizer has ids that the model lacks.

    Source: Ben Allal et al. (2025), SmolLM2, arXiv:2502.02737 (the format of the turns).
    Lesson: notebooks/13_chat.ipynb

    >>> from course_lib.apps.chat import tiny_chat
    >>> conversation = Conversation(*tiny_chat(), max_new_tokens=3)
    >>> _ = list(conversation.say("Hi!")), list(conversation.say("And now?"))
    >>> [message["role"] for message in conversation.messages[1:]]
    ['user', 'assistant', 'user', 'assistant']
    """

    def __init__(
        self,
        model: Decoder,
        tokenizer: ChatTokenizer,
        system: str | None = None,
        sampler: Sampler | None = None,
        max_new_tokens: int = 256,
        stops: Sequence[str] = (),
        max_length: int | None = None,
    ):
        check_stops(stops)
        if max_new_tokens < 0:
            raise ValueError(
                f"max_new_tokens was {max_new_tokens}; pass a budget of 0 or more"
            )
        if tokenizer.vocab_size > model.config.vocab_size:
            raise ValueError(
                f"the tokenizer has {tokenizer.vocab_size} tokens and the model "
                f"{model.config.vocab_size}; pass the model's own tokenizer"
            )
        self.model, self.tokenizer, self.sampler = model, tokenizer, sampler
        self.max_new_tokens, self.stops = max_new_tokens, stops
        self.cache = model.new_cache(max_length=max_length)
        content = DEFAULT_SYSTEM if system is None else system
        self._system = {"role": "system", "content": content}
        self._opening = tokenizer.chat([self._system], add_generation_prompt=False)
        self._closing = self._opening[self._opening.index(tokenizer.eos_id) :]
        self._exchanges: list[Exchange] = []
        self.fed: list[int] = []
        self.notes: list[str] = []

    def say(self, text: str) -> Iterator[str]:
        """Yield the answer to a message as it is written.

        The turn begins when the first piece is asked for; an earlier answer that is
        still open ends there. To end this one early, close the iterator or drop it.

        Args:
            text: the user's message.

        Yields:
            text, not empty and never half a character.

        Raises:
            ValueError: the message does not fit beside the system turn and an answer,
                or holds what the vocabulary lacks; at the call, and nothing changes.
        """
        user = {"role": "user", "content": text}
        turn = self.tokenizer.chat([self._system, user])[len(self._opening) :]
        self._check_fits(turn)
        return self._answer(text, turn)

    def end_turn(self) -> None:
        """Close the turn whose answer is being written, if there is one, as it stands."""
        if self._exchanges and not (last := self._exchanges[-1]).closed:
            # The cache first, so that it never holds what ids do not.
            n_earlier = len(self.ids) - len(last.ids)
            self.cache.crop(n_earlier + last.n_kept)
            last.close(self._closing)

    def clear(self) -> None:
        """Forget all turns but the system's, with their counts and notes."""
        self.end_turn()
        self.cache.crop(len(self._opening))
        self._exchanges, self.fed, self.notes = [], [], []

    @property
    def messages(self) -> list[dict[str, str]]:
        """The turns that the model still has, an unfinished answer left out."""
        turns = [dict(self._system)]
        for exchange in self._exchanges:
            turns.append({"role": "user", "content": exchange.asked})
            if exchange.closed:
                turns.append({"role": "assistant", "content": exchange.answer})
        return turns

    @property
    def ids(self) -> list[int]:
        """The conversation as the model reads it; the cache holds a beginning of it."""
        return [*self._opening, *chain(*(exchange.ids for exchange in self._exchanges))]

    @property
    def reason(self) -> str | None:
        """Why the last answer ended: "end", "stop", "budget" or "interrupted"."""
        return self._exchanges[-1].reason if self._exchanges else None

    @property
    def seconds(self) -> list[float]:
        """When each id of the last answer was chosen, in seconds from its start."""
        return list(self._exchanges[-1].seconds) if self._exchanges else []

    # -- one turn -----------------------------------------------------------------------

    @property
    def _n_answer(self) -> int:
        """Most tokens of an answer, with the marks that close its turn."""
        return self.max_new_tokens + len(self._closing)

    def _check_fits(self, turn: list[int]) -> None:
        """Refuse a turn for which forgetting everything else is not enough."""
        limit = self.cache.max_length
        room = limit - len(self._opening) - self._n_answer
        if len(turn) > room:
            raise ValueError(
                f"the message has {len(turn)} tokens, the marks of its turn included, and "
                f"{max(room, 0)} fit: of {limit}, {len(self._opening)} are the system's and "
                f"{self._n_answer} the answer's; shorten it or lower max_new_tokens"
            )

    def _answer(self, text: str, turn: list[int]) -> Iterator[str]:
        """Run one turn from its beginning to its end."""
        self.end_turn()
        self._check_fits(turn)  # again: a limit may have changed since the call
        self._forget(len(self.ids) + len(turn) + self._n_answer)
        exchange = Exchange(text, turn)
        self._exchanges.append(exchange)
        try:
            for piece in until(self._texts(exchange), self.stops):
                exchange.answer += piece
                yield piece
                if exchange.closed:  # by the next turn, or by clear
                    return
            exchange.reason = exchange.reason or "stop"
        finally:
            if not exchange.closed:
                self.end_turn()

    def _texts(self, exchange: Exchange) -> Iterator[str]:
        """Feed what the cache lacks and yield the text of what the model chooses."""
        new = self.ids[int(self.cache.lengths[0]) :]
        self.fed.append(len(new))
        decoder, started = TextDecoder(self.tokenizer), time.perf_counter()
        end = self.tokenizer.eos_id
        for new_id in stream(
            self.model, new, self.max_new_tokens, self.sampler, end, self.cache
        ):
            text = decoder.push(new_id) if new_id != end else ""
            exchange.add(new_id, text, time.perf_counter() - started)
            if text:
                yield text
        exchange.reason = "end" if exchange.ids[-1] == end else "budget"

    def _forget(self, n_needed: int) -> None:
        """Drop the oldest exchanges until the conversation fits; feed the rest anew."""
        gone, n_gone = 0, 0
        while n_needed - n_gone > self.cache.max_length:
            n_gone += len(self._exchanges[gone].ids)
            gone += 1
        if gone:
            told = forgotten(self._exchanges[:gone], self.cache.max_length)
            self.cache.crop(len(self._opening))  # first, as in end_turn
            self._exchanges = self._exchanges[gone:]
            self.notes.append(told)
