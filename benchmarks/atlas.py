"""The shipped atlas fit, 33 models × 6 domains: time, memory, steps and convergence; first and second start.

Run it with ``python benchmarks/atlas.py`` on an idle machine.

Each fit is a process of its own with the same, at first empty, compilation cache, so that the second shows what
an hmeta user pays from the second fit on.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

SIZES = {"chains": 4, "warmup": 1000, "draws": 1000, "seed": 1}


def fit_once(sizes: dict[str, int]) -> dict[str, float]:
    """Fit in this process and return what it cost."""
    start = time.perf_counter()
    import hmeta
    from hmeta.core.share import share
    from hmeta.infer.diagnose import diagnose
    from hmeta.infer.options import SamplerOptions

    imported = time.perf_counter()
    fit = hmeta.fit(share("data", "mmlu_atlas.nc"), sampler=SamplerOptions(**sizes))
    done = time.perf_counter()
    facts, stats, verdict = fit["hmeta"].attrs, fit["sample_stats"].to_dataset(), diagnose(fit)
    return {
        "import_s": imported - start,
        "prepare_s": float(facts["compile_time_s"]),
        "warmup_s": float(facts["warmup_time_s"]),
        "sampling_s": float(facts["sampling_time_s"]),
        "whole_s": done - start,
        "steps_a_draw": float(stats["n_steps"].mean()),
        "smallest_bulk_ess": float(verdict.table["ess_bulk"].min()),
        "largest_r_hat": float(verdict.table["r_hat"].max()),
        "divergences": int(stats["diverging"].sum()),
        "converged": int(verdict.converged),
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def main() -> None:
    """Fit twice in fresh processes and print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    for name, value in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args()
    sizes = {name: getattr(asked, name) for name in SIZES}
    if asked.child:
        print(json.dumps(fit_once(sizes)))
        return
    with tempfile.TemporaryDirectory() as cache:
        options = [f"--{name}={value}" for name, value in sizes.items()]
        for start in ("first", "second"):
            command = [sys.executable, __file__, "--child", *options]
            environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": cache}
            answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            found = json.loads(answer.stdout.splitlines()[-1])
            print(f"{start} start: " + ", ".join(f"{name} {value:.4g}" for name, value in found.items()))


if __name__ == "__main__":
    main()
