"""A loaded model and its device's free memory -> how many tokens are read in one batch."""

from importlib import import_module
from typing import Any

from internal_linker.embeddings.encoders.sentence_transformers import LoadedModel

# On a processor more are not surely quicker (tests/quality/ENCODERS.md); what GPUs gain from more was not measured.
MOST_TOKENS = {"cpu": 4_096, "mps": 16_384, "cuda": 65_536}
# The other half is for what the libraries keep aside, and for other programs.
_SHARE = 0.5
# A model that doesn't say how wide it is counts as one of the large ones, as BERT-large.
_WIDTH, _HEADS = 1_024, 16


def tokens_at_once(loaded: LoadedModel) -> int:
    """As many as half of a GPU's free memory takes, one text of full length at least, `MOST_TOKENS` at the most.

    The processor's memory isn't asked: so many tokens take it 350 MB with BERT-large.
    """
    most = MOST_TOKENS[loaded.device]
    if loaded.device == "cpu":
        return most
    fits = int(_free(import_module("torch"), loaded.device) * _SHARE) // bytes_a_token(loaded)
    return max(loaded.length, min(fits, most))


def bytes_a_token(loaded: LoadedModel) -> int:
    """What a layer holds of one token at a time, beside the weights; an upper bound.

    Twenty times the width for hidden states, their projections and the wider inner ones, and the attention to all
    tokens of the text before and after it is scaled. On a processor BERTs of three widths took between a third and
    nine tenths of it.
    """
    config = loaded.model.config
    width = getattr(config, "hidden_size", _WIDTH)
    heads = getattr(config, "num_attention_heads", _HEADS)
    sizes = [weights.element_size() for weights in loaded.model.parameters()]
    return (20 * width + 2 * heads * loaded.length) * max(sizes, default=4)


def _free(torch: Any, device: str) -> int:
    if device == "cuda":
        free: int = torch.cuda.mem_get_info()[0]
        return free
    # Apple's GPUs share the memory of the computer: what they should take of it, less what they have.
    left: int = torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    return max(left, 0)
