"""The way chains run on a GPU, on a CPU here: vectorised in one program, from the same start."""

from types import SimpleNamespace

import numpy as np

from hmeta.infer.device import computing, find_device
from hmeta.infer.nuts import CHUNK, _Board, _Chains
from hmeta.infer.options import SamplerOptions, silent
from hmeta.infer.warm_start import warm_start

OPTIONS = SamplerOptions(chains=2, warmup=CHUNK, draws=CHUNK, seed=3)


def _trace(warm, device, platform):
    chains = _Chains(warm, OPTIONS, SimpleNamespace(platform=platform) if platform == "gpu" else device)
    return chains.method, chains.run(_Board(OPTIONS, chains.total, silent, 0.0))


def test_vectorised_chains_start_as_threads_do_and_keep_the_shapes(one_person):
    device = find_device("cpu")
    with computing(device):
        warm = warm_start(one_person)
        (threads, a), (vectorised, b) = _trace(warm, device, "cpu"), _trace(warm, device, "gpu")
    assert (threads, vectorised) == ("threads", "vectorised")
    assert np.asarray(a.position).shape == np.asarray(b.position).shape == (2, CHUNK, warm.target.size)
    assert np.isfinite(np.asarray(b.position)).all()
    # rounding differs between the programs and chains are chaotic, so only whole distributions can agree
    gap = np.abs(np.asarray(a.potential).mean() - np.asarray(b.potential).mean())
    assert gap < 4 * np.asarray(a.potential).std()
