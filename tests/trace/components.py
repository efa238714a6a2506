"""Traces what is no decoder: encoders, encoder-decoders, vision towers, denoisers and their decoders of images.

Each function takes a module on the meta device and gives the passes that it runs, with inputs of the sizes named.
"""

from typing import Any

import torch
from counting import Traced, WorkCounter


def encode_tokens(module: torch.nn.Module, *, batch: int, tokens: int, device: str = "meta") -> Traced:
    """A text encoder (BERT, CLIP's text tower, T5's encoder) over `tokens` of each sequence."""
    ids = torch.zeros(batch, tokens, dtype=torch.long, device=device)
    return _one_pass(module, "encode", device=device, input_ids=ids)


def encode_pixels(module: torch.nn.Module, *, batch: int, height: int, width: int, channels: int = 3) -> Traced:
    """A vision tower (ViT, SigLIP) over images [batch, channels, height, width]."""
    return _one_pass(module, "encode", pixel_values=_values(batch, channels, height, width))


def encode_decode(module: torch.nn.Module, *, states: torch.Tensor, name: str, tokens: int) -> dict[str, Traced]:
    """An encoder-decoder (T5, Whisper): its encoder alone over `states`, then its decoder over what came out.

    name: under which the encoder takes its input ("input_features", "inputs_embeds"). The decoder starts with `tokens`
    new tokens of each sequence ("prefill", which makes the keys and values of the encoder's output), then adds one.
    """
    counter = WorkCounter(module)
    words: dict[str, Any] = {"use_cache": True, "return_dict": True}
    ids = torch.zeros(states.shape[0], tokens, dtype=torch.long, device="meta")
    with torch.device("meta"), torch.no_grad():
        with counter.trace("encode", states):
            encoded = module.get_encoder()(**{name: states}, return_dict=True)
        with counter.trace("prefill"):
            made = module(encoder_outputs=encoded, decoder_input_ids=ids, **words)
        with counter.trace("decode"):
            module(encoder_outputs=encoded, decoder_input_ids=ids[:, :1], past_key_values=made.past_key_values, **words)
    return counter.phases


def denoise(module: torch.nn.Module, **inputs: Any) -> Traced:
    """One step of a denoiser (a diffusion transformer or a UNet), or one pass of an autoencoder, by its own inputs."""
    return _one_pass(module, "denoise", **inputs)


def _values(*shape: int) -> torch.Tensor:
    return torch.empty(*shape, device="meta")


def _one_pass(module: torch.nn.Module, phase: str, device: str = "meta", **inputs: Any) -> Traced:
    counter = WorkCounter(module)
    tensors = [value for value in inputs.values() if isinstance(value, torch.Tensor) and value.is_floating_point()]
    with torch.device(device), torch.no_grad(), counter.trace(phase, *tensors):
        module(**inputs)
    return counter.phases[phase]
