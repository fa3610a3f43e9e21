"""Decoding with cross-attention against peers: `python -m benchmarks.cross_attention`."""

import torch
import transformers
from transformers.modeling_outputs import BaseModelOutput

from benchmarks.equality import randomise
from benchmarks.rounds import interleave, run, table
from benchmarks.seq2seq import TorchDecoder, copy_marian, seq2seq
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.generation import generate

N_MEMORY, N_NEW = 64, 96


def theirs(model, memory):
    """Transformers' generate over a given memory."""
    return model.generate(
        encoder_outputs=BaseModelOutput(last_hidden_state=memory),
        attention_mask=torch.ones(memory.shape[:2], dtype=torch.long),
        decoder_input_ids=torch.ones(1, 1, dtype=torch.long),
        max_new_tokens=N_NEW,
        do_sample=False,
    )


@torch.inference_mode()
def without_cache(model, memory) -> list[int]:
    """torch.nn has no cache: each step feeds the whole row."""
    tokens = torch.ones(1, 1, dtype=torch.long)
    for _ in range(N_NEW):
        new = model(tokens, memory, only_last=True)[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat((tokens, new), 1)
    return tokens[0, 1:].tolist()


def measure() -> dict:
    """Compare 6 layers of width 384, post-norm as Marian is."""
    config = DecoderConfig(
        1000, 384, 6, 6, max_length=576, cross_attention=True, pre_norm=False
    )
    ours = randomise(Decoder(config, torch.Generator().manual_seed(0)))
    torch_decoder, marian = TorchDecoder(ours).eval(), copy_marian(ours)
    bart = seq2seq(
        ours, transformers.BartConfig, transformers.BartForConditionalGeneration
    )
    memory = torch.randn(1, N_MEMORY, 384, generator=torch.Generator().manual_seed(1))
    tokens = torch.randint(1000, (1, 24), generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        expected = ours(tokens, memory)
        source = BaseModelOutput(last_hidden_state=memory)
        given = {
            "torch.nn": torch_decoder(tokens, memory),
            "Marian": marian(encoder_outputs=source, decoder_input_ids=tokens).logits,
        }
    differences = {k: (v - expected).abs().max().item() for k, v in given.items()}
    if max(differences.values()) > 1e-3:
        raise SystemExit(f"logits differ by {differences}: no timing without equality")
    contestants = {
        "course_lib": lambda: generate(ours, [1], N_NEW, memory=memory),
        "transformers Marian": lambda: theirs(marian, memory),
        "transformers BART": lambda: theirs(bart, memory),
        "torch.nn.TransformerDecoder": lambda: without_cache(torch_decoder, memory),
    }
    results = interleave(contestants)
    same = ", ".join(f"{name} {value:.0e}" for name, value in differences.items())
    note = (
        f"6 layers of width 384, a memory of {N_MEMORY}, 1 -> +{N_NEW} tokens, batch 1, "
        f"post-norm. The same weights; logits differ by at most: {same}. BART has one norm "
        f"more, behind its embedding, so it has the sizes and not the numbers."
    )
    tables = [table("Decoding with cross-attention", results, note)]
    return {"tables": tables, "results": results, "differences": differences}


if __name__ == "__main__":
    run("cross_attention", measure)
