"""Attention: each query reads a weighted mean of the values it is allowed to read."""

from course_lib.attention.formula import attention, attention_scores
from course_lib.attention.heads import MultiHeadAttention, merge_heads, split_heads

__all__ = [
    "MultiHeadAttention",
    "attention",
    "attention_scores",
    "merge_heads",
    "split_heads",
]
