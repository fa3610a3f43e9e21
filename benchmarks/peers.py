"""Other people's decoders with the weights of one of ours."""

import transformers
from torch import nn

from benchmarks.equality import copy_all, layer_of, norm_of, stacked
from course_lib.decoder import Decoder

transformers.logging.set_verbosity_error()


def copy_gpt2(decoder: Decoder) -> nn.Module:
    """Copy to transformers' GPT-2."""
    c = decoder.config
    names = {"gelu": "gelu", "gelu_tanh": "gelu_new"}
    config = transformers.GPT2Config(
        vocab_size=c.vocab_size,
        n_positions=c.max_length,
        n_embd=c.d_model,
        n_layer=c.n_layers,
        n_head=c.n_heads,
        activation_function=names[c.activation],
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
    )
    model = transformers.GPT2LMHeadModel(config).eval()
    body = model.transformer
    pairs = [(body.wte.weight, decoder.embedding.weight)]
    pairs += [(body.wpe.weight, decoder.embedding.positions.table)]
    pairs += norm_of(body.ln_f, decoder.stack.final_norm)
    for layer, block in zip(body.h, decoder.stack.blocks, strict=True):
        heads, feed = block.self_attention, block.feed_forward
        pairs += norm_of(layer.ln_1, block.self_norm) + norm_of(
            layer.ln_2, block.feed_norm
        )
        pairs += [
            (layer.attn.c_attn.weight, stacked(heads, "weight").T),
            (layer.attn.c_attn.bias, stacked(heads, "bias")),
        ]
        for conv, linear in (
            (layer.attn.c_proj, heads.to_output),
            (layer.mlp.c_fc, feed.to_hidden),
            (layer.mlp.c_proj, feed.to_output),
        ):
            pairs += [(conv.weight, linear.weight.T), (conv.bias, linear.bias)]
    copy_all(pairs)
    return model


def copy_llama(decoder: Decoder) -> nn.Module:
    """Copy to transformers' Llama (SmolLM2)."""
    c = decoder.config
    config = transformers.LlamaConfig(
        vocab_size=c.vocab_size,
        hidden_size=c.d_model,
        num_hidden_layers=c.n_layers,
        num_attention_heads=c.n_heads,
        num_key_value_heads=c.n_kv_heads,
        intermediate_size=c.d_ff,
        max_position_embeddings=c.max_length,
        rms_norm_eps=c.eps,
        rope_parameters={"rope_type": "default", "rope_theta": c.rotary_base},
        tie_word_embeddings=True,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    body = model.model
    pairs = [(body.embed_tokens.weight, decoder.embedding.weight)]
    pairs += [(body.norm.weight, decoder.stack.final_norm.gain)]
    for layer, block in zip(body.layers, decoder.stack.blocks, strict=True):
        heads, feed = block.self_attention, block.feed_forward
        pairs += [
            (layer.input_layernorm.weight, block.self_norm.gain),
            (layer.post_attention_layernorm.weight, block.feed_norm.gain),
            (layer.self_attn.q_proj.weight, heads.to_queries.weight),
            (layer.self_attn.k_proj.weight, heads.to_keys.weight),
            (layer.self_attn.v_proj.weight, heads.to_values.weight),
            (layer.self_attn.o_proj.weight, heads.to_output.weight),
            (layer.mlp.gate_proj.weight, feed.to_gate.weight),
            (layer.mlp.up_proj.weight, feed.to_hidden.weight),
            (layer.mlp.down_proj.weight, feed.to_output.weight),
        ]
    copy_all(pairs)
    return model


def copy_litgpt(decoder: Decoder) -> nn.Module:
    """Copy to litgpt's GPT, which has no learned positions; rotary ones are off."""
    from litgpt.config import Config
    from litgpt.model import GPT

    c = decoder.config
    model = GPT(
        Config(
            name="bench",
            block_size=c.max_length,
            vocab_size=c.vocab_size,
            padded_vocab_size=c.vocab_size,
            n_layer=c.n_layers,
            n_head=c.n_heads,
            n_embd=c.d_model,
            rotary_percentage=0.0,
            parallel_residual=False,
            bias=True,
            norm_class_name="LayerNorm",
            mlp_class_name="GptNeoxMLP",
        )
    ).eval()
    body = model.transformer
    pairs = [(body.wte.weight, decoder.embedding.weight)]
    pairs += [(model.lm_head.weight, decoder.embedding.weight)]
    pairs += norm_of(body.ln_f, decoder.stack.final_norm)
    for layer, block in zip(body.h, decoder.stack.blocks, strict=True):
        heads, feed = block.self_attention, block.feed_forward
        pairs += norm_of(layer.norm_1, block.self_norm)
        pairs += norm_of(layer.norm_2, block.feed_norm)
        pairs += [
            (layer.attn.qkv.weight, stacked(heads, "weight")),
            (layer.attn.qkv.bias, stacked(heads, "bias")),
        ]
        pairs += layer_of(layer.attn.proj, heads.to_output)
        pairs += layer_of(layer.mlp.fc, feed.to_hidden)
        pairs += layer_of(layer.mlp.proj, feed.to_output)
    copy_all(pairs)
    return model


def copy_x_transformers(decoder: Decoder) -> nn.Module:
    """Copy to x-transformers, which has no biases in attention and norms."""
    from x_transformers import Decoder as Layers
    from x_transformers import TransformerWrapper

    c = decoder.config
    model = TransformerWrapper(
        num_tokens=c.vocab_size,
        max_seq_len=c.max_length,
        tie_embedding=True,
        tie_embedding_scale=1.0,
        attn_layers=Layers(
            dim=c.d_model,
            depth=c.n_layers,
            heads=c.n_heads,
            attn_dim_head=c.d_head,
            attn_flash=True,
        ),
    ).eval()
    last = model.attn_layers.final_norm
    unit = float(last.unit_offset)  # it stores a gain as its distance from 1
    pairs = [(model.token_emb.emb.weight, decoder.embedding.weight)]
    table = decoder.embedding.positions.table
    pairs += [(model.pos_emb.emb.weight, table * c.d_model**0.5)]
    pairs += [(last.gamma, decoder.stack.final_norm.gain - unit)]
    layers = model.attn_layers.layers
    for i, block in enumerate(decoder.stack.blocks):
        (norm, attention, _), (feed_norm, feed, _) = layers[2 * i], layers[2 * i + 1]
        heads, ours = block.self_attention, block.feed_forward
        pairs += [
            (norm[0].gamma, block.self_norm.gain - unit),
            (feed_norm[0].gamma, block.feed_norm.gain - unit),
            (attention.to_q.weight, heads.to_queries.weight),
            (attention.to_k.weight, heads.to_keys.weight),
            (attention.to_v.weight, heads.to_values.weight),
            (attention.to_out.weight, heads.to_output.weight),
        ]
        wide, narrow = (part for part in feed.modules() if isinstance(part, nn.Linear))
        pairs += layer_of(wide, ours.to_hidden) + layer_of(narrow, ours.to_output)
    copy_all(pairs)
    return model
