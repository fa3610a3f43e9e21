"""SmolLM2's chat format: who speaks is marked by special tokens inside one text."""

from collections.abc import Mapping, Sequence

from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers import decoders, models, pre_tokenizers

from course_lib.tokens import BPETokenizer

START, END = "<|im_start|>", "<|im_end|>"
ROLES = ("system", "user", "assistant")
DEFAULT_SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"

Messages = Sequence[Mapping[str, str]]


def chat_prompt(messages: str | Messages, add_generation_prompt: bool = True) -> str:
    r"""Write a conversation as the text that SmolLM2 was trained to continue.

    Args:
        messages: the turns, each {"role": ..., "content": ...} with role "system",
            "user" or "assistant"; a str is one turn of the user. Without a system
            turn at the start the model's own one is put there.
        add_generation_prompt: open the assistant's turn at the end.

    Raises:
        ValueError: there is no turn, or one lacks a role or a content.

    Source: field tokenizer.chat_template of SmolLM2-135M-Instruct (ChatML).
    Lesson: notebooks/00_start.ipynb

    >>> chat_prompt([{"role": "system", "content": "Be brief."}], False)
    '<|im_start|>system\nBe brief.<|im_end|>\n'
    >>> chat_prompt("Hi!")[-53:]
    '<|im_start|>user\nHi!<|im_end|>\n<|im_start|>assistant\n'
    """
    text = "".join(f"{START}{turn}{END}\n" for turn in _turns(messages))
    return text + f"{START}assistant\n" if add_generation_prompt else text


class ChatTokenizer(BPETokenizer):
    r"""SmolLM2's byte-level BPE, which also writes conversations in its format.

    Before the merges, text is cut at every digit and then as GPT-2 cuts it. bos, eos
    and pad are START, END and END.

    Args:
        vocabulary: the tokens as GPT-2 spells them, in the order of ids.
        merges: pairs of tokens, the first to be merged first.
        special: the special tokens, START and END among them.

    Raises:
        ValueError: a merge makes no token, or START or END is missing.

    Source: Ben Allal et al. (2025), SmolLM2, arXiv:2502.02737; field
        tokenizer.chat_template of SmolLM2-135M-Instruct (ChatML).
    Lesson: notebooks/11_training.ipynb

    >>> letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    >>> tokenizer = ChatTokenizer([START, END, *letters], [], special=[START, END])
    >>> tokenizer.decode(tokenizer.chat("Hi!"))[-53:]
    '<|im_start|>user\nHi!<|im_end|>\n<|im_start|>assistant\n'
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        merges: Sequence[tuple[str, str]],
        special: Sequence[str],
    ):
        if not {START, END} <= set(special):
            raise ValueError(
                f"the special tokens are {list(special)}, expected {START} and {END} "
                "among them: is it another model?"
            )
        ids = {token: i for i, token in enumerate(vocabulary)}
        try:
            model = models.BPE(ids, list(merges))
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(
                f"vocabulary and merges do not fit together ({error}), expected merges "
                "whose parts and results are tokens: is the file whole?"
            ) from None
        bpe, plain = LibraryTokenizer(model), LibraryTokenizer(model)
        for each in (bpe, plain):
            each.pre_tokenizer = pre_tokenizers.Sequence(
                [
                    pre_tokenizers.Digits(individual_digits=True),
                    pre_tokenizers.ByteLevel(add_prefix_space=False),
                ]
            )
            each.decoder = decoders.ByteLevel()
        bpe.add_special_tokens(list(special))
        super().__init__(bpe, bos=START, eos=END, pad=END)
        self._plain = BPETokenizer(plain)

    def chat(
        self, messages: str | Messages, add_generation_prompt: bool = True
    ) -> list[int]:
        """Return the ids of a conversation, ready for the model to answer.

        They are the ids of `chat_prompt`'s text, with one difference: the name of a
        special token inside a message stays ordinary text, so that nobody can end
        their own turn and speak as someone else.

        Args:
            messages: as in `chat_prompt`.
            add_generation_prompt: open the assistant's turn at the end.

        Raises:
            ValueError: as `chat_prompt`, or a message holds a byte that the vocabulary
                lacks.
        """
        ids: list[int] = []
        for turn in _turns(messages):
            ids += [self.bos_id, *self._plain.encode(turn), self.eos_id]
            ids += self._plain.encode("\n")
        return ids + self.encode(f"{START}assistant\n" * add_generation_prompt)


def _turns(messages: str | Messages) -> list[str]:
    """Check the turns and return each as its role and content."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    turns = []
    for message in messages:
        role, content = (
            message.get(key) if isinstance(message, Mapping) else None
            for key in ("role", "content")
        )
        if role not in ROLES or not isinstance(content, str):
            raise ValueError(
                f"a message was {message!r}, expected {{'role': ..., 'content': text}} "
                f"with a role of {', '.join(ROLES)}"
            )
        turns.append(f"{role}\n{content}")
    if not turns:
        raise ValueError("messages are empty: give at least one turn, or a str")
    if messages[0]["role"] != "system":
        turns.insert(0, f"system\n{DEFAULT_SYSTEM}")
    return turns
