"""Text to numbers and back: byte, character, word and BPE tokenizers with one interface.

encode(text) -> list of ids       decode(ids) -> text       vocab_size
decode_stream(ids) -> text piece by piece, never half a character
token(id) -> how a token is shown     bos_id   eos_id   pad_id, each an id or None
describe(tokenizer) -> plain values       rebuild(values) -> the same tokenizer
"""

from course_lib.tokens.bpe import BPETokenizer
from course_lib.tokens.interface import TextDecoder, Tokenizer
from course_lib.tokens.stored import describe, rebuild
from course_lib.tokens.units import ByteTokenizer, CharacterTokenizer, WordTokenizer

__all__ = [
    "BPETokenizer",
    "ByteTokenizer",
    "CharacterTokenizer",
    "TextDecoder",
    "Tokenizer",
    "WordTokenizer",
    "describe",
    "rebuild",
]
