"""Peers with cross-attention: torch.nn's layers, and translators of transformers."""

import torch
import transformers
from torch import nn

from benchmarks.equality import copy_all, layer_of, norm_of, stacked
from course_lib.decoder import Decoder

transformers.logging.set_verbosity_error()


class TorchDecoder(nn.Module):
    """torch.nn's layers as a decoder: with a memory TransformerDecoder, else an encoder's.

    Neither keeps keys and values: each step feeds the whole row.
    """

    def __init__(self, decoder: Decoder):
        super().__init__()
        c = decoder.config
        kind = nn.TransformerDecoder if c.cross_attention else nn.TransformerEncoder
        layer = (
            nn.TransformerDecoderLayer
            if c.cross_attention
            else nn.TransformerEncoderLayer
        )(
            c.d_model,
            c.n_heads,
            c.d_ff,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=c.pre_norm,
        )
        more = {} if c.cross_attention else {"enable_nested_tensor": False}
        norm = nn.LayerNorm(c.d_model) if c.pre_norm else None
        self.embedding = nn.Embedding(c.vocab_size, c.d_model)
        self.table = nn.Parameter(torch.empty(c.max_length, c.d_model))
        self.layers = kind(layer, c.n_layers, norm=norm, **more)
        mask = nn.Transformer.generate_square_subsequent_mask(c.max_length)
        self.register_buffer("mask", mask, persistent=False)
        pairs = [(self.embedding.weight, decoder.embedding.weight)]
        pairs += [(self.table, decoder.embedding.positions.table)]
        pairs += norm_of(norm, decoder.stack.final_norm) if c.pre_norm else []
        for theirs, block in zip(self.layers.layers, decoder.stack.blocks, strict=True):
            feed = block.feed_forward
            pairs += norm_of(theirs.norm1, block.self_norm)
            pairs += layer_of(theirs.linear1, feed.to_hidden)
            pairs += layer_of(theirs.linear2, feed.to_output)
            attentions = [(theirs.self_attn, block.self_attention)]
            if c.cross_attention:
                pairs += norm_of(theirs.norm2, block.cross_norm)
                attentions += [(theirs.multihead_attn, block.cross_attention)]
            last = theirs.norm3 if c.cross_attention else theirs.norm2
            pairs += norm_of(last, block.feed_norm)
            for its, heads in attentions:
                pairs += [(its.in_proj_weight, stacked(heads, "weight"))]
                pairs += [(its.in_proj_bias, stacked(heads, "bias"))]
                pairs += layer_of(its.out_proj, heads.to_output)
        copy_all(pairs)

    def forward(self, tokens, memory=None, only_last=False):
        n = tokens.shape[1]
        x, mask = self.embedding(tokens) + self.table[:n], self.mask[:n, :n]
        if memory is None:
            x = self.layers(x, mask=mask, is_causal=True)
        else:
            x = self.layers(x, memory, tgt_mask=mask, tgt_is_causal=True)
        return (x[:, -1:] if only_last else x) @ self.embedding.weight.T


def copy_marian(decoder: Decoder) -> nn.Module:
    """Copy a post-norm decoder with cross-attention to transformers' Marian."""
    model = seq2seq(decoder, transformers.MarianConfig, transformers.MarianMTModel)
    body = model.model.decoder
    pairs = [(model.model.shared.weight, decoder.embedding.weight)]
    pairs += [(body.embed_positions.weight, decoder.embedding.positions.table)]
    pairs += [(model.final_logits_bias, torch.zeros_like(model.final_logits_bias))]
    for layer, block in zip(body.layers, decoder.stack.blocks, strict=True):
        pairs += norm_of(layer.self_attn_layer_norm, block.self_norm)
        pairs += norm_of(layer.encoder_attn_layer_norm, block.cross_norm)
        pairs += norm_of(layer.final_layer_norm, block.feed_norm)
        pairs += layer_of(layer.fc1, block.feed_forward.to_hidden)
        pairs += layer_of(layer.fc2, block.feed_forward.to_output)
        for theirs, heads in (
            (layer.self_attn, block.self_attention),
            (layer.encoder_attn, block.cross_attention),
        ):
            pairs += layer_of(theirs.q_proj, heads.to_queries)
            pairs += layer_of(theirs.k_proj, heads.to_keys)
            pairs += layer_of(theirs.v_proj, heads.to_values)
            pairs += layer_of(theirs.out_proj, heads.to_output)
    copy_all(pairs)
    return model


def seq2seq(decoder: Decoder, config_class, model_class) -> nn.Module:
    """Build a translator of transformers of our decoder's sizes, with one encoder layer."""
    c = decoder.config
    config = config_class(
        vocab_size=c.vocab_size,
        d_model=c.d_model,
        encoder_layers=1,
        decoder_layers=c.n_layers,
        encoder_attention_heads=c.n_heads,
        decoder_attention_heads=c.n_heads,
        encoder_ffn_dim=c.d_ff,
        decoder_ffn_dim=c.d_ff,
        dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        activation_function="gelu",
        max_position_embeddings=c.max_length,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=None,
        decoder_start_token_id=1,
        forced_eos_token_id=None,
        scale_embedding=False,
    )
    model = model_class(config).eval()
    settings = model.generation_config
    settings.eos_token_id = settings.forced_eos_token_id = None
    settings.num_beams, settings.pad_token_id = 1, 0
    return model
