"""Cached greedy decoding against peers: `python -m benchmarks.decoding`."""

import torch

from benchmarks import peers
from benchmarks.equality import difference, randomise, without
from benchmarks.rounds import interleave, run, table
from course_lib import hardware, pretrained
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.generation import generate, generate_batch

BABY = dict(d_model=384, n_layers=6, n_heads=6, vocab_size=65, max_length=1280)


def theirs(model, tokens, n_new: int, mask=None):
    """Transformers' generate, greedy, always to the end."""
    return model.generate(
        tokens,
        attention_mask=torch.ones_like(tokens) if mask is None else mask,
        max_new_tokens=n_new,
        min_new_tokens=n_new,
        do_sample=False,
        pad_token_id=0,
    )


@torch.inference_mode()
def bare_loop(model, tokens, n_new: int) -> None:
    """A transformers model without generate's own work."""
    kept = None
    for _ in range(n_new):
        given = model(tokens, past_key_values=kept, use_cache=True, logits_to_keep=1)
        kept, tokens = (
            given.past_key_values,
            given.logits[:, -1].argmax(-1, keepdim=True),
        )


@torch.inference_mode()
def litgpt_loop(model, tokens, n_new: int) -> None:
    """The loop of litgpt's generate, which itself takes one row only."""
    n = tokens.shape[1]
    model.set_kv_cache(batch_size=len(tokens), max_seq_length=n + n_new)
    places = torch.arange(n)
    for end in range(n, n + n_new):
        logits = model(tokens, places, input_pos_maxp1=end)
        tokens, places = logits[:, -1].argmax(-1, keepdim=True), torch.tensor([end])
    model.clear_kv_cache()


def x_transformers_generate(model, tokens, n_new: int):
    """The generate of x-transformers' wrapper."""
    from x_transformers import AutoregressiveWrapper

    writer = AutoregressiveWrapper(model)
    return lambda: writer.generate(tokens, n_new, temperature=0.0, cache_kv=True)


def one_row(
    config: DecoderConfig, n_prompt: int, n_new: int, dtype=torch.float32
) -> dict:
    """Decode one row with the weights of one random model in all layouts."""
    ours = randomise(Decoder(config, torch.Generator().manual_seed(0)))
    gpt2 = peers.copy_gpt2(ours)
    differences = {"transformers": difference(ours, gpt2)}
    models = {"litgpt": (peers.copy_litgpt, "positions")}
    models["x-transformers"] = (peers.copy_x_transformers, "attention", "norm.bias")
    others = {}
    if dtype == torch.float32:
        for name, (make, *lacks) in models.items():
            twin = without_biases(ours, lacks)
            others[name] = make(twin)
            differences[name] = difference(twin, others[name])
    ours, gpt2 = ours.to(dtype), gpt2.to(dtype)
    prompt = torch.randint(config.vocab_size, (1, n_prompt))
    contestants = {
        "course_lib": lambda: generate(ours, prompt[0], n_new),
        "transformers generate": lambda: theirs(gpt2, prompt, n_new),
        "transformers, bare loop": lambda: bare_loop(gpt2, prompt, n_new),
    }
    if others:
        contestants["litgpt"] = lambda: litgpt_loop(others["litgpt"], prompt, n_new)
        contestants["x-transformers"] = x_transformers_generate(
            others["x-transformers"], prompt, n_new
        )
    return {"results": interleave(contestants), "differences": differences}


def without_biases(decoder, lacks):
    """Set to 0 what a peer lacks: the positions, or the biases of some parts."""
    if "positions" in lacks:
        return without(decoder, "positions")
    names = [name for name, _ in decoder.named_parameters() if name.endswith("bias")]
    return without(decoder, *(name for name in names if "feed_forward" not in name))


def ragged_rows(n_new: int = 64) -> dict:
    """Decode eight rows of different lengths; transformers pads them on the left."""
    ours = randomise(Decoder(DecoderConfig(**BABY), torch.Generator().manual_seed(0)))
    gpt2 = peers.copy_gpt2(ours)
    lengths = [5, 8, 11, 12, 13, 14, 15, 16]
    prompts = [torch.randint(65, (n,)).tolist() for n in lengths]
    tokens = torch.tensor([[0] * (16 - len(row)) + row for row in prompts])
    mask = torch.arange(16) >= 16 - torch.tensor(lengths)[:, None]
    mine = generate_batch(ours, prompts, n_new)
    its = theirs(gpt2, tokens, n_new, mask.long())[:, 16:].tolist()
    same = sum(a == b for a, b in zip(mine, its, strict=True))
    contestants = {
        "course_lib": lambda: generate_batch(ours, prompts, n_new),
        "transformers generate": lambda: theirs(gpt2, tokens, n_new, mask.long()),
    }
    return {"results": interleave(contestants), "same_rows": same}


def smollm2(n_new: int = 48) -> dict:
    """SmolLM2 with its real weights, in both."""
    ours, tokenizer = pretrained.load("smollm2")
    llama = peers.copy_llama(ours)
    largest = difference(ours, llama)
    prompt = tokenizer.chat("Tell me about the sea.")
    contestants = {
        "course_lib": lambda: generate(ours, prompt, n_new),
        "transformers generate": lambda: theirs(llama, torch.tensor([prompt]), n_new),
    }
    return {
        "results": interleave(contestants),
        "differences": {"transformers": largest},
    }


def bandwidth_share(
    cpu_seconds: float, n_new: int, config: DecoderConfig, context: float
):
    """Bytes that a step must read, over what this thread could read in its time."""
    weights = (
        config.n_layers * 12 * config.d_model**2 + config.vocab_size * config.d_model
    )
    kept = 2 * config.n_layers * config.d_model * context
    limit = hardware.read_bandwidth()
    return 4 * (weights + kept) * n_new / cpu_seconds / limit, limit


def measure() -> dict:
    """Run all settings."""
    sizes = dict(dropout=0.0, max_length=128, activation="gelu")  # all peers have it
    gpt2 = DecoderConfig.gpt2_small(**sizes)
    found = {
        "6 layers of width 384, 16 -> +256 tokens": one_row(
            DecoderConfig(**BABY), 16, 256
        ),
        "GPT-2 small, 16 -> +24 tokens": one_row(gpt2, 16, 24),
        "GPT-2 small, bfloat16, 16 -> +4 tokens": one_row(gpt2, 16, 4, torch.bfloat16),
        "6 layers of width 384, 8 rows of 5 to 16, +64 tokens": ragged_rows(),
        "SmolLM2-135M, its real weights, +48 tokens": smollm2(),
    }
    tables = []
    for title, one in found.items():
        if "differences" in one:
            same = ", ".join(f"{k} {v:.0e}" for k, v in one["differences"].items())
            note = f"The same weights; logits differ by at most: {same} (float32)."
        else:
            note = f"The same weights; {one['same_rows']} of 8 rows have the same ids."
        tables.append(table(f"Decoding: {title}", one["results"], note))
    seconds = min(
        found["GPT-2 small, 16 -> +24 tokens"]["results"]["course_lib"]["rounds"]
    )
    share, limit = bandwidth_share(seconds, 24, gpt2, 28)
    tables.append(
        f"GPT-2 small, float32: course_lib's best round reads {share:.0%} of what one thread "
        f"can read here ({limit / 1e9:.0f} GB/s).\n"
    )
    return {"tables": tables, "found": found, "bandwidth_share": share}


if __name__ == "__main__":
    run("decoding", measure)
