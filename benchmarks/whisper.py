"""Whisper tiny.en, writing down the same sound: `python -m benchmarks.whisper`."""

import torch
import transformers
from transformers.modeling_outputs import BaseModelOutput

from benchmarks.rounds import interleave, run, table
from course_lib import pretrained
from course_lib.audio import log_mel
from course_lib.data.speech import sentences
from course_lib.generation import generate
from course_lib.pretrained.whisper_names import our_names

N_NEW = 48


def copy_whisper(ours):
    """Copy to transformers' Whisper: its names are turned into ours, one by one."""
    c, n = ours.decoder.config, ours.encoder.config.max_length
    config = transformers.WhisperConfig(
        vocab_size=c.vocab_size,
        d_model=c.d_model,
        encoder_layers=ours.encoder.config.n_layers,
        decoder_layers=c.n_layers,
        encoder_attention_heads=c.n_heads,
        decoder_attention_heads=c.n_heads,
        encoder_ffn_dim=c.d_ff,
        decoder_ffn_dim=c.d_ff,
        max_source_positions=n,
        max_target_positions=c.max_length,
        num_mel_bins=80,
        pad_token_id=0,
        bos_token_id=0,
        eos_token_id=0,
        decoder_start_token_id=0,
        suppress_tokens=[],
        begin_suppress_tokens=[],
    )
    theirs = transformers.WhisperForConditionalGeneration(config).eval()
    mine = dict(ours.state_dict())
    with torch.no_grad():
        for name, tensor in theirs.model.state_dict().items():
            (our_name,) = our_names({name: tensor})
            tensor.copy_(mine[our_name])
    return theirs


@torch.inference_mode()
def bare_loop(theirs, memory, prompt) -> list[int]:
    """Decode greedily with transformers' model and cache, without generate's own work."""
    source = BaseModelOutput(last_hidden_state=memory)
    tokens, kept, ids = torch.tensor([prompt]), None, []
    for _ in range(N_NEW):
        given = theirs(
            encoder_outputs=source,
            decoder_input_ids=tokens,
            past_key_values=kept,
            use_cache=True,
        )
        kept, tokens = (
            given.past_key_values,
            given.logits[:, -1].argmax(-1, keepdim=True),
        )
        ids.append(tokens.item())
    return ids


def measure() -> dict:
    """Decode one sentence from the same memory in both."""
    ours, tokenizer = pretrained.load("whisper-tiny.en")
    theirs = copy_whisper(ours)
    spectrogram = log_mel(sentences()[0].samples(), window_seconds=30)
    prompt = tokenizer.prompt
    with torch.inference_mode():
        memory = ours.encoder(spectrogram)
        its_memory = theirs.model.encoder(spectrogram).last_hidden_state
    heard = (memory - its_memory).abs().max().item()
    mine = generate(ours, prompt, N_NEW, memory=memory)
    if heard > 1e-3 or mine != bare_loop(theirs, memory, prompt):
        raise SystemExit("the two write different ids: no timing without equality")
    contestants = {
        "course_lib": lambda: generate(ours, prompt, N_NEW, memory=memory),
        "transformers, bare loop": lambda: bare_loop(theirs, memory, prompt),
    }
    results = interleave(contestants)
    note = (
        f"{N_NEW} tokens from the same encoded sound (the two encoders differ by at most "
        f"{heard:.0e}); both write the same ids."
    )
    return {"tables": [table("Whisper tiny.en", results, note)], "results": results}


if __name__ == "__main__":
    run("whisper", measure)
