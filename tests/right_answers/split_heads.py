"""Right answers to split_heads."""

import torch

from tests.answers import right


@right("view, then transpose")
def view_transpose(x, n_heads):
    b, t, c = x.shape
    return x.view(b, t, n_heads, c // n_heads).transpose(1, 2)


@right("chunks stacked on a new axis")
def chunks(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@right("unflatten and permute, contiguous")
def permuted(x, n_heads):
    return x.unflatten(2, (n_heads, -1)).permute(0, 2, 1, 3).contiguous()


@right("slices copied in a loop")
def loop(x, n_heads):
    b, t, c = x.shape
    d = c // n_heads
    out = x.new_zeros(b, n_heads, t, d)
    for h in range(n_heads):
        out[:, h] = x[:, :, h * d : (h + 1) * d]
    return out


@right("einsum with one selection matrix a head")
def selected(x, n_heads):
    eye = torch.eye(x.shape[-1], dtype=x.dtype).view(n_heads, -1, x.shape[-1])
    return torch.einsum("btc,hdc->bhtd", x, eye)


@right("an index of features")
def indexed(x, n_heads):
    features = torch.arange(x.shape[-1]).reshape(n_heads, 1, -1)
    places = torch.arange(x.shape[1]).reshape(1, -1, 1)
    return x[:, places, features]
