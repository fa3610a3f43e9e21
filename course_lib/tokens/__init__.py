"""Text to numbers and back: byte, character and BPE tokenizers with one interface.

encode(text) -> list of ids       decode(ids) -> text       vocab_size
decode_stream(ids) -> text piece by piece, never half a character
token(id) -> how a token is shown     bos_id   eos_id   pad_id, each an id or None
"""

from course_lib.tokens.bpe import BPETokenizer
from course_lib.tokens.interface import TextDecoder, Tokenizer
from course_lib.tokens.units import ByteTokenizer, CharacterTokenizer

__all__ = [
    "BPETokenizer",
    "ByteTokenizer",
    "CharacterTokenizer",
    "TextDecoder",
    "Tokenizer",
]
