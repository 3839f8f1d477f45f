"""Make bang2019.nc: ratings of 175 people, counted by participant, condition, stimulus, response and confidence."""

from __future__ import annotations

import numpy as np
from locations import HERE, record_checksums, source

from hmeta.core.files import write_dataset
from hmeta.trials.counts import to_counts
from hmeta.trials.import_options import ImportOptions, ScaleDeclaration
from hmeta.trials.importing import import_table

OPTIONS = ImportOptions(
    task="binary",
    labels=("1", "2"),
    scale=ScaleDeclaration(1, 4, 1),
    factors=("condition",),
    title="Fine and coarse discrimination by 175 people with confidence from 1 to 4, counted",
    source=(
        "Bang, Shekhar & Rahnev (2019), Journal of Experimental Psychology: General, Experiment 2; repository "
        "mrakhsha/confidence_database at 96cb3ed"
    ),
    license="MIT, copyright (c) 2019 Dobromir Rahnev",
)


def main() -> None:
    """Leave out the trials without a response, count the others and write the file."""
    answers = import_table(source("human/bang2019_exp2.parquet"), OPTIONS)
    answered = np.isfinite(answers["confidence"].values) & (answers["response"].values >= 0)
    kept = answers.isel(trial=np.flatnonzero(answered))
    print(f"{answers.sizes['trial']} trials, {kept.sizes['trial']} with a response and a rating")
    counts = to_counts(kept, by=["participant", "condition"]).assign_attrs(created_by="data/make_bang2019.py")
    write_dataset(counts, HERE / "bang2019.nc", overwrite=True)
    record_checksums()


if __name__ == "__main__":
    main()
