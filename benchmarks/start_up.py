"""How long the command line takes to answer: the quickest and the median of several runs.

python benchmarks/start_up.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 9
WORDS = (["--help"], ["import", "--help"], ["fit", "--help"])


def seconds(words: list[str]) -> float:
    """Return the wall time of one ``hmeta`` process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "hmeta", *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Print one line for each command."""
    for words in WORDS:
        taken = [seconds(words) for _ in range(RUNS)]
        print(f"hmeta {' '.join(words):16s} {min(taken):.2f} s quickest, {statistics.median(taken):.2f} s median")


if __name__ == "__main__":
    main()
