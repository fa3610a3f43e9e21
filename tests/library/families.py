"""Copy random weights of a reference model into a Decoder: name for name, no scaling."""

import torch

from course_lib.decoder import Decoder, DecoderConfig

# Of a Llama or a Mistral of transformers, pairwise different.
SIZES = dict(
    vocab_size=53,
    hidden_size=42,
    num_hidden_layers=2,
    num_attention_heads=7,
    num_key_value_heads=1,
    intermediate_size=66,
    max_position_embeddings=64,
    tie_word_embeddings=False,
)


def copy_linear(ours, theirs, transposed=False):
    weight = theirs.weight.t() if transposed else theirs.weight
    ours.weight.data.copy_(weight)
    if ours.bias is not None:
        ours.bias.data.copy_(
            theirs.bias if theirs.bias is not None else torch.zeros_like(ours.bias)
        )


def copy_norm(ours, theirs):
    ours.gain.data.copy_(theirs.weight)
    if getattr(ours, "bias", None) is not None:
        ours.bias.data.copy_(theirs.bias)


def copy_split(parts, weight, bias):
    """Copy the rows of one fused projection into several, in order."""
    sizes = [part.weight.shape[0] for part in parts]
    for part, w, b in zip(parts, weight.split(sizes), bias.split(sizes), strict=True):
        part.weight.data.copy_(w)
        part.bias.data.copy_(b)


def randomise(model, seed):
    """Draw every parameter, so that no gain is 1 and no bias 0."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.data.normal_(std=0.1, generator=generator)
    return model.eval()


def from_llama(theirs, **changes):
    c = theirs.config
    config = DecoderConfig.smollm2_135m(
        vocab_size=c.vocab_size,
        d_model=c.hidden_size,
        n_layers=c.num_hidden_layers,
        n_heads=c.num_attention_heads,
        n_kv_heads=c.num_key_value_heads,
        d_ff=c.intermediate_size,
        max_length=c.max_position_embeddings,
        eps=c.rms_norm_eps,
        rotary_base=c.rope_parameters["rope_theta"],
        tie_weights=c.tie_word_embeddings,
        **changes,
    )
    ours = Decoder(config).eval()
    ours.embedding.weight.data.copy_(theirs.model.embed_tokens.weight)
    ours.head.weight.data.copy_(theirs.lm_head.weight)
    copy_norm(ours.stack.final_norm, theirs.model.norm)
    for block, layer in zip(ours.stack.blocks, theirs.model.layers, strict=True):
        copy_norm(block.self_norm, layer.input_layernorm)
        copy_norm(block.feed_norm, layer.post_attention_layernorm)
        copy_linear(block.self_attention.to_queries, layer.self_attn.q_proj)
        copy_linear(block.self_attention.to_keys, layer.self_attn.k_proj)
        copy_linear(block.self_attention.to_values, layer.self_attn.v_proj)
        copy_linear(block.self_attention.to_output, layer.self_attn.o_proj)
        copy_linear(block.feed_forward.to_gate, layer.mlp.gate_proj)
        copy_linear(block.feed_forward.to_hidden, layer.mlp.up_proj)
        copy_linear(block.feed_forward.to_output, layer.mlp.down_proj)
    return ours


def from_gpt2(theirs, **changes):
    c = theirs.config
    config = DecoderConfig.gpt2_small(
        vocab_size=c.vocab_size,
        d_model=c.n_embd,
        n_layers=c.n_layer,
        n_heads=c.n_head,
        n_kv_heads=None,
        d_ff=None,
        max_length=c.n_positions,
        **changes,
    )
    ours = Decoder(config).eval()
    ours.embedding.weight.data.copy_(theirs.transformer.wte.weight)
    ours.embedding.positions.table.data.copy_(theirs.transformer.wpe.weight)
    copy_norm(ours.stack.final_norm, theirs.transformer.ln_f)
    for block, layer in zip(ours.stack.blocks, theirs.transformer.h, strict=True):
        copy_norm(block.self_norm, layer.ln_1)
        copy_norm(block.feed_norm, layer.ln_2)
        heads = block.self_attention
        copy_split(
            [heads.to_queries, heads.to_keys, heads.to_values],
            layer.attn.c_attn.weight.t(),
            layer.attn.c_attn.bias,
        )
        copy_linear(heads.to_output, layer.attn.c_proj, transposed=True)
        copy_linear(block.feed_forward.to_hidden, layer.mlp.c_fc, transposed=True)
        copy_linear(block.feed_forward.to_output, layer.mlp.c_proj, transposed=True)
    return ours


def from_whisper(theirs, **changes):
    """Build the decoder half of a WhisperForConditionalGeneration."""
    c = theirs.config
    config = DecoderConfig.whisper_tiny(
        vocab_size=c.vocab_size,
        d_model=c.d_model,
        n_layers=c.decoder_layers,
        n_heads=c.decoder_attention_heads,
        n_kv_heads=None,
        d_ff=c.decoder_ffn_dim,
        max_length=c.max_target_positions,
        **changes,
    )
    ours = Decoder(config).eval()
    decoder = theirs.model.decoder
    ours.embedding.weight.data.copy_(decoder.embed_tokens.weight)
    ours.embedding.positions.table.data.copy_(decoder.embed_positions.weight)
    copy_norm(ours.stack.final_norm, decoder.layer_norm)
    for block, layer in zip(ours.stack.blocks, decoder.layers, strict=True):
        copy_norm(block.self_norm, layer.self_attn_layer_norm)
        copy_norm(block.cross_norm, layer.encoder_attn_layer_norm)
        copy_norm(block.feed_norm, layer.final_layer_norm)
        for heads, attn in (
            (block.self_attention, layer.self_attn),
            (block.cross_attention, layer.encoder_attn),
        ):
            copy_linear(heads.to_queries, attn.q_proj)
            copy_linear(heads.to_keys, attn.k_proj)
            copy_linear(heads.to_values, attn.v_proj)
            copy_linear(heads.to_output, attn.out_proj)
        copy_linear(block.feed_forward.to_hidden, layer.fc1)
        copy_linear(block.feed_forward.to_output, layer.fc2)
    return ours


def copy_torch_attention(ours, theirs):
    copy_split(
        [ours.to_queries, ours.to_keys, ours.to_values],
        theirs.in_proj_weight,
        theirs.in_proj_bias,
    )
    copy_linear(ours.to_output, theirs.out_proj)


def copy_torch_block(block, layer):
    """Copy a torch.nn.TransformerDecoderLayer or TransformerEncoderLayer."""
    copy_torch_attention(block.self_attention, layer.self_attn)
    norms = [block.self_norm, block.feed_norm]
    if block.cross_attention is not None:
        copy_torch_attention(block.cross_attention, layer.multihead_attn)
        norms.insert(1, block.cross_norm)
    for ours, theirs in zip(
        norms, (layer.norm1, layer.norm2, getattr(layer, "norm3", None)), strict=False
    ):
        copy_norm(ours, theirs)
    copy_linear(block.feed_forward.to_hidden, layer.linear1)
    copy_linear(block.feed_forward.to_output, layer.linear2)
