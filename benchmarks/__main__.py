"""Measure and write benchmarks/RESULTS.md and results.json: `make bench`."""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
import transformers

from benchmarks.rounds import conditions, interleave, table
from course_lib import pretrained
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.generation import generate
from course_lib.training import next_token_loss

HERE = Path(__file__).parent
MODULES = "decoder generation training trace sampling kv_cache".split()


def import_time(n_rounds: int = 5) -> dict:
    """Compare `import torch` alone with `import torch` and the library, in CPU-seconds."""
    both = "import torch, " + ", ".join(f"course_lib.{name}" for name in MODULES)

    def seconds(code):
        clock = f"import time; {code}; print(time.process_time())"
        done = subprocess.run(
            [sys.executable, "-c", clock], capture_output=True, check=True
        )
        return float(done.stdout)

    pairs = [(seconds("import torch"), seconds(both)) for _ in range(n_rounds)]
    return {
        "torch_seconds": statistics.median(alone for alone, _ in pairs),
        "added_seconds": statistics.median(with_us - alone for alone, with_us in pairs),
    }


def smollm2_in_transformers(decoder: Decoder):
    """Copy the decoder's weights into transformers' Llama."""
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
    theirs = transformers.LlamaForCausalLM(config).eval()
    llama = theirs.model
    pairs = [
        (llama.embed_tokens.weight, decoder.embedding.weight),
        (llama.norm.weight, decoder.stack.final_norm.gain),
    ]
    for layer, block in zip(llama.layers, decoder.stack.blocks, strict=True):
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
    with torch.no_grad():
        for mine, its in pairs:
            mine.copy_(its)
    return theirs


def decoding(n_new: int = 48) -> dict:
    """Cached greedy decoding of SmolLM2, batch 1, against transformers' generate."""
    decoder, tokenizer = pretrained.load("smollm2")
    theirs = smollm2_in_transformers(decoder)
    prompt = tokenizer.chat("Tell me about the sea.")
    tokens = torch.tensor([prompt])
    with torch.no_grad():
        difference = (decoder(tokens) - theirs(tokens).logits).abs().max().item()
    assert difference < 1e-3, (
        f"logits differ by {difference}: no timing without equality"
    )

    def their_generate():
        return theirs.generate(
            tokens,
            max_new_tokens=n_new,
            min_new_tokens=n_new,
            do_sample=False,
            pad_token_id=0,
        )

    def our_generate():
        return generate(decoder, prompt, n_new)

    # Greedy paths split where two logits are nearly equal; the work stays the same.
    results = interleave(
        {"course_lib": our_generate, "transformers generate": their_generate}
    )
    return {
        "results": results,
        "logit_difference": difference,
        "new_tokens": n_new,
        "prompt_tokens": len(prompt),
    }


def training_step(n_steps: int = 20) -> dict:
    """One optimiser step of a 4 x 128 character model against transformers' GPT-2."""
    sizes = dict(vocab_size=65, d_model=128, n_layers=4, n_heads=4, max_length=64)
    ours = Decoder(DecoderConfig(**sizes, activation="gelu_tanh"))
    config = transformers.GPT2Config(
        vocab_size=65,
        n_embd=128,
        n_layer=4,
        n_head=4,
        n_positions=64,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
    )
    theirs = transformers.GPT2LMHeadModel(config)
    layer = torch.nn.TransformerEncoderLayer(
        128, 4, 512, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )

    class TorchModel(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(65, 128)
            self.positions = torch.nn.Parameter(torch.randn(64, 128) * 0.02)
            self.blocks = torch.nn.TransformerEncoder(
                layer, 4, norm=torch.nn.LayerNorm(128), enable_nested_tensor=False
            )
            self.mask = torch.nn.Transformer.generate_square_subsequent_mask(64)

        def forward(self, tokens):
            states = self.embedding(tokens) + self.positions
            return (
                self.blocks(states, mask=self.mask, is_causal=True)
                @ self.embedding.weight.T
            )

    tokens = torch.randint(0, 65, (12, 65), generator=torch.Generator().manual_seed(0))
    inputs, targets = tokens[:, :-1], tokens[:, 1:]

    def steps(model, logits_of):
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

        def run():
            for _ in range(n_steps):
                optimiser.zero_grad()
                next_token_loss(logits_of(model), targets).backward()
                optimiser.step()

        return run

    contestants = {
        "course_lib": steps(ours, lambda m: m(inputs)),
        "transformers GPT-2": steps(theirs, lambda m: m(inputs).logits),
        "torch.nn.TransformerEncoder": steps(TorchModel(), lambda m: m(inputs)),
    }
    return {
        "results": interleave(contestants),
        "steps": n_steps,
        "tokens_a_step": 12 * 64,
    }


def main() -> None:
    """Measure everything with one thread and write the tables."""
    torch.set_num_threads(1)
    started = time.time()
    measured = {
        "conditions": conditions(),
        "import": import_time(),
        "decoding": decoding(),
        "training": training_step(),
    }
    imports, decode, train = (
        measured[name] for name in ("import", "decoding", "training")
    )
    where = ", ".join(f"{k} {v}" for k, v in measured["conditions"].items())
    text = "\n".join(
        [
            "# Measured side by side",
            "",
            "Written by `make bench`. A ratio above 1 means slower than course_lib, in the",
            "same round; five rounds, median and range. Ratios travel to other machines,",
            "seconds do not.",
            "",
            f"Measured with: {where}.",
            "",
            "### Import",
            "",
            f"`import torch` takes {imports['torch_seconds']:.2f} CPU-seconds; the library's "
            f"modules add {imports['added_seconds']:.2f}.",
            "",
            table(
                "Cached greedy decoding, SmolLM2-135M, float32, batch 1",
                decode["results"],
                f"{decode['prompt_tokens']} tokens of prompt and {decode['new_tokens']} new ones; "
                f"the same weights, logits equal to {decode['logit_difference']:.1e}.",
            ),
            table(
                "Training, 4 layers of width 128, float32",
                train["results"],
                f"{train['steps']} steps of {train['tokens_a_step']} tokens; the same loss and "
                f"the same fused AdamW for all.",
            ),
        ]
    )
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
    (HERE / "results.json").write_text(
        json.dumps(measured, indent=1) + "\n", encoding="utf-8"
    )
    print(text)
    print(f"{time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
