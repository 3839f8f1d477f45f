"""Make mmlu_atlas.nc: answers of 33 language models to MMLU, counted by model, domain, correctness and confidence."""

from __future__ import annotations

from locations import HERE, record_checksums, source

from hmeta.core.files import write_dataset
from hmeta.trials.counts import to_counts
from hmeta.trials.import_options import ImportOptions, ScaleDeclaration
from hmeta.trials.importing import import_table

OPTIONS = ImportOptions(
    task="mafc",
    n_options=4,
    scale=ScaleDeclaration(0, 100, 1),
    factors=("domain", "family"),
    title="MMLU answers of 33 language models with verbalized confidence, counted by model and domain",
    source=(
        "Cacioli (2026), Domain-level metacognitive monitoring in frontier LLMs: A 33-model atlas; repository "
        "synthiumjp/metacognitive-profile-atlas at ca31180; items from MMLU (Hendrycks et al. 2021)"
    ),
    license="CC BY 4.0",
)


def main() -> None:
    """Count the answers and write the file."""
    answers = import_table(source("llm/atlas_mmlu_confidence.parquet"), OPTIONS)
    counts = to_counts(answers, by=["model", "family", "domain"]).assign_attrs(created_by="data/make_mmlu_atlas.py")
    write_dataset(counts, HERE / "mmlu_atlas.nc", overwrite=True)
    record_checksums()


if __name__ == "__main__":
    main()
