"""Whole models equal their counterparts in transformers and torch.nn, at random weights."""

import pytest
import torch
from torch import nn

from course_lib.block import Stack
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.encoder import Encoder, EncoderDecoder
from tests.library.families import (
    copy_torch_block,
    from_gpt2,
    from_llama,
    from_whisper,
    randomise,
)

torch.manual_seed(0)


def llama(seed=1, **changes):
    transformers = pytest.importorskip(
        "transformers", reason="needs the extra `compare`"
    )
    sizes = dict(
        vocab_size=53,
        hidden_size=42,
        num_hidden_layers=3,
        num_attention_heads=7,
        num_key_value_heads=1,
        intermediate_size=66,
        max_position_embeddings=64,
        rope_parameters={"rope_type": "default", "rope_theta": 5000.0},
        tie_word_embeddings=True,
    )
    config = transformers.LlamaConfig(**{**sizes, **changes})
    return randomise(transformers.LlamaForCausalLM(config), seed)


def gpt2(seed=2):
    transformers = pytest.importorskip(
        "transformers", reason="needs the extra `compare`"
    )
    config = transformers.GPT2Config(
        vocab_size=53,
        n_embd=42,
        n_layer=3,
        n_head=7,
        n_positions=64,
        bos_token_id=1,
        eos_token_id=2,
    )
    return randomise(transformers.GPT2LMHeadModel(config), seed)


def whisper(seed=3):
    transformers = pytest.importorskip(
        "transformers", reason="needs the extra `compare`"
    )
    config = transformers.WhisperConfig(
        vocab_size=53,
        d_model=42,
        encoder_layers=1,
        encoder_attention_heads=7,
        decoder_layers=3,
        decoder_attention_heads=7,
        decoder_ffn_dim=66,
        encoder_ffn_dim=66,
        max_target_positions=64,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    return randomise(transformers.WhisperForConditionalGeneration(config), seed)


TOKENS = torch.randint(0, 53, (2, 11), generator=torch.Generator().manual_seed(5))


def assert_same_logits_and_gradients(ours, theirs, our_logits, their_logits, pairs):
    torch.testing.assert_close(our_logits, their_logits, atol=2e-5, rtol=1e-4)
    weight = torch.randn(their_logits.shape, generator=torch.Generator().manual_seed(7))
    (our_logits * weight).sum().backward()
    (their_logits * weight).sum().backward()
    for our_parameter, their_gradient in pairs():
        scale = their_gradient.abs().max().item()
        torch.testing.assert_close(
            our_parameter.grad, their_gradient, atol=2e-5 * max(scale, 1), rtol=1e-3
        )


@pytest.mark.parametrize("kv_heads", [1, 7])
@pytest.mark.parametrize("tied", [True, False])
def test_a_llama_like_decoder_equals_transformers_llama(kv_heads, tied):
    theirs = llama(num_key_value_heads=kv_heads, tie_word_embeddings=tied)
    ours = from_llama(theirs)
    layer, block = theirs.model.layers[1], ours.stack.blocks[1]
    assert_same_logits_and_gradients(
        ours,
        theirs,
        ours(TOKENS),
        theirs(TOKENS).logits,
        lambda: [
            (ours.embedding.weight, theirs.model.embed_tokens.weight.grad),
            (block.self_attention.to_keys.weight, layer.self_attn.k_proj.weight.grad),
            (block.feed_forward.to_gate.weight, layer.mlp.gate_proj.weight.grad),
            (block.self_norm.gain, layer.input_layernorm.weight.grad),
        ],
    )


def test_a_gpt2_like_decoder_equals_transformers_gpt2():
    theirs = gpt2()
    ours = from_gpt2(theirs)
    layer, block = theirs.transformer.h[1], ours.stack.blocks[1]
    assert_same_logits_and_gradients(
        ours,
        theirs,
        ours(TOKENS),
        theirs(TOKENS).logits,
        lambda: [
            (ours.embedding.weight, theirs.transformer.wte.weight.grad),
            (ours.embedding.positions.table, theirs.transformer.wpe.weight.grad),
            (block.feed_forward.to_hidden.weight, layer.mlp.c_fc.weight.grad.t()),
            (block.self_norm.bias, layer.ln_1.bias.grad),
        ],
    )


def test_a_whisper_like_decoder_equals_transformers_whisper_decoder():
    theirs = whisper()
    ours = from_whisper(theirs)
    memory = torch.randn(2, 13, 42, generator=torch.Generator().manual_seed(6))
    reference = theirs(decoder_input_ids=TOKENS, encoder_outputs=(memory,)).logits
    layer, block = theirs.model.decoder.layers[1], ours.stack.blocks[1]
    assert_same_logits_and_gradients(
        ours,
        theirs,
        ours(TOKENS, memory),
        reference,
        lambda: [
            (
                block.cross_attention.to_values.weight,
                layer.encoder_attn.v_proj.weight.grad,
            ),
            (block.cross_norm.gain, layer.encoder_attn_layer_norm.weight.grad),
            (ours.stack.final_norm.bias, theirs.model.decoder.layer_norm.bias.grad),
        ],
    )


@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_stack_with_cross_attention_equals_torch_transformer_decoder(
    pre_norm, activation
):
    layer = nn.TransformerDecoderLayer(
        42,
        7,
        66,
        dropout=0.0,
        activation=activation,
        batch_first=True,
        norm_first=pre_norm,
    )
    final = nn.LayerNorm(42) if pre_norm else None
    theirs = randomise(nn.TransformerDecoder(layer, 3, norm=final), seed=4)
    config = DecoderConfig(
        53,
        42,
        3,
        7,
        d_ff=66,
        pre_norm=pre_norm,
        activation=activation,
        positions="none",
        cross_attention=True,
    )
    ours = Stack(config).eval()
    for block, their_layer in zip(ours.blocks, theirs.layers, strict=True):
        copy_torch_block(block, their_layer)
    if pre_norm:
        ours.final_norm.gain.data.copy_(theirs.norm.weight)
        ours.final_norm.bias.data.copy_(theirs.norm.bias)
    residual = torch.randn(2, 5, 42, generator=torch.Generator().manual_seed(8))
    memory = torch.randn(2, 13, 42, generator=torch.Generator().manual_seed(9))
    memory_real = torch.arange(13) < torch.tensor([13, 4])[:, None]
    our_states = ours(
        residual,
        None,
        memory=memory,
        causal=True,
        memory_allowed=memory_real[:, None, None],
    )
    their_states = theirs(
        residual,
        memory,
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(5),
        tgt_is_causal=True,
        memory_key_padding_mask=~memory_real,
    )
    assert_same_logits_and_gradients(
        ours,
        theirs,
        our_states,
        their_states,
        lambda: [
            (
                ours.blocks[0].cross_attention.to_output.weight,
                theirs.layers[0].multihead_attn.out_proj.weight.grad,
            ),
            (ours.blocks[2].feed_norm.gain, theirs.layers[2].norm3.weight.grad),
        ],
    )


@pytest.mark.parametrize("pre_norm", [False, True])
def test_an_encoder_stack_equals_torch_transformer_encoder(pre_norm):
    layer = nn.TransformerEncoderLayer(
        42, 7, 66, dropout=0.0, batch_first=True, norm_first=pre_norm
    )
    theirs = randomise(
        nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), seed=4
    )
    config = DecoderConfig(
        53,
        42,
        2,
        7,
        d_ff=66,
        pre_norm=pre_norm,
        activation="relu",
        positions="none",
        causal=False,
    )
    ours = Stack(config)
    for block, their_layer in zip(ours.blocks, theirs.layers, strict=True):
        copy_torch_block(block, their_layer)
    ours.final_norm = None  # theirs was built without one
    residual = torch.randn(2, 5, 42)
    real = torch.arange(5) < torch.tensor([5, 3])[:, None]
    expected = theirs.train()(
        residual, src_key_padding_mask=~real
    )  # train: the plain path
    torch.testing.assert_close(
        ours(residual, None, allowed=real[:, None, None])[real],
        expected[real],
        atol=2e-5,
        rtol=1e-4,
    )


def test_the_encoder_reads_both_ways_and_ignores_padding():
    encoder = Encoder(DecoderConfig(53, 42, 2, 7, max_length=16)).eval()
    tokens = TOKENS.clone()
    alone = encoder(tokens[:1, :4])
    padded = encoder(tokens, lengths=[4, 11])
    torch.testing.assert_close(padded[0, :4], alone[0])
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % 53
    assert (encoder(changed)[1, 0] - encoder(tokens)[1, 0]).abs().max() > 1e-4


def test_encoder_and_decoder_together_are_the_decoder_fed_with_the_encoder():
    config = DecoderConfig(53, 42, 2, 7, max_length=16, cross_attention=True)
    model = EncoderDecoder(Encoder(config), Decoder(config)).eval()
    source = torch.randint(0, 53, (2, 7))
    memory = model.encoder(source, lengths=[7, 3])
    expected = model.decoder(TOKENS, memory, memory_lengths=[7, 3], lengths=[11, 5])
    actual = model(source, TOKENS, source_lengths=[7, 3], lengths=[11, 5])
    torch.testing.assert_close(actual, expected, atol=0, rtol=0)


@pytest.mark.parametrize(
    ("preset", "parameters"),
    [
        # Published or transformers' own counts, tied head counted once.
        ("gpt2_small", 124_439_808),
        ("smollm2_135m", 134_515_008),
    ],
)
def test_a_preset_has_the_published_number_of_parameters(preset, parameters):
    with torch.device("meta"):
        model = Decoder(getattr(DecoderConfig, preset)(), initialise=False)
    assert sum(p.numel() for p in model.parameters()) == parameters
