"""The methods, written from the specification of each model, for the paper's own methods section."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hmeta.core.errors import HmetaError
from hmeta.core.provenance import versions
from hmeta.infer.diagnose import MAX_R_HAT, MIN_E_BFMI, MIN_ESS
from hmeta.infer.intervals import NAMES
from hmeta.infer.prior_density import describe_prior
from hmeta.report.inputs import FitInput, factors_of, unit_word
from hmeta.report.material import Material, count
from hmeta.report.page import Block, Cite, Code, Heading, Paragraph, Text, join, number, say
from hmeta.spec.model_file import ModelSpec, parse_model

ORDER = 200
TITLE = "Methods"
NEEDS = ""

ON = " on log(gap) − log(2.5 / L), L the levels in use"
LINKS = {"identity": "identity link", "log": "log link", "logit": "logit link"}
SYMBOLS = {"d": "d′", "c": "the type-1 criterion c", "M": "M", "logit_accuracy": "logit accuracy", "d_a": "type-2 d_a"}


def build(material: Material) -> Sequence[Block]:
    """Return paragraphs that an author can take over, and the model files."""
    blocks = material.each(material.fits, lambda fit: _of_fit(material, fit))
    if material.results or material.metrics:
        blocks.append(Paragraph(join([_of_measures(), *([_of_answers()] if material.results else [])])))
    if blocks:
        blocks.append(Paragraph((f"Computed with hmeta {versions()['hmeta']}.",), "note"))
    for fit in material.fits:
        heading = "Model file" if len(material.fits) == 1 else f"Model file of {fit.name}"
        blocks += [Heading(heading), Code(str(fit.headline.attributes.get("spec", "")).strip())]
    return blocks


def _of_fit(material: Material, fit: FitInput) -> list[Block]:
    try:
        spec = parse_model(str(fit.headline.attributes.get("spec", "")), fit.file)
    except HmetaError:
        return [Paragraph((f"{fit.file} does not hold the specification of its model.",), "note")]
    return [
        *_not_converged(fit),
        Paragraph(join([_data(fit), _likelihood(fit, spec), _predictors(fit, spec)])),
        Paragraph(join([_sampling(fit), _reporting(material, fit)])),
    ]


def _not_converged(fit: FitInput) -> list[Block]:
    if fit.converged:
        return []
    reasons = "; ".join(fit.doubts)
    return [Paragraph((f"THIS FIT HAS NOT CONVERGED ({reasons}); its numbers must not be reported.",), "bad")]


def _data(fit: FitInput) -> Text:
    facts = fit.headline.from_json("validation", {})
    total, used = float(facts.get("rows_in", "nan")), float(facts.get("rows_used", "nan"))
    n = fit.headline.factors[unit_word(fit)].nunique() if unit_word(fit) in fit.headline.factors else 1
    excluded = sorted({str(row["reason"]) for row in facts.get("exclusions", [])})
    return say(
        "The analysis is of {used} answers of {n} {units}{rest}.",
        used=count(used, "answers used", fit.file),
        n=count(n, "units", fit.file),
        units=unit_word(fit) if n == 1 else f"{unit_word(fit)}s",
        rest=f"; {total - used:,.0f} were excluded ({', '.join(excluded)})" if total > used else "",
    )


def _likelihood(fit: FitInput, spec: ModelSpec) -> Text:
    noise = spec.options.get("noise", "")
    match spec.likelihood:
        case "binary":
            placed = "at the type-1 criterion" if spec.options.get("meta_c") != "relative" else "in proportion to it"
            return say(
                "Responses and confidence ratings were modelled by hierarchical signal detection theory {cites}: the "
                "type-1 responses determine d′ and the criterion, and the ratings given stimulus and response "
                "determine meta-d′, with {noise} evidence of equal variance and the type-2 criteria placed {placed}. "
                "Metacognitive efficiency is M = meta-d′ / d′.",
                cites=Cite("maniscalco2012 fleming2017"),
                noise=noise.replace("_", " "),
                placed=placed,
            )
        case "mafc":
            rule = (
                "the gap between the largest and the second largest"
                if spec.options.get("rule") == "gap"
                else "the largest"
            )
            return say(
                "Answers and confidence ratings were modelled by an extension of meta-d′ {cites} to questions with "
                "several alternatives ({m}): each alternative has evidence with {noise} noise, that of the right one "
                "shifted by d′; the answer is the alternative with the largest evidence, and confidence is read from "
                "{rule} through increasing criteria. Accuracy determines d′, and the ratings given right and wrong "
                "answers determine meta-d′; metacognitive efficiency is M = meta-d′ / d′.",
                cites=Cite("maniscalco2012 fleming2014"),
                m=fit.headline.noise.split(", ")[-1],
                noise=noise.capitalize() if noise.startswith("gumbel") else noise.replace("_", " "),
                rule=rule,
            )
        case _:
            return say(
                "As the task is open, the ratings of right and wrong answers were modelled by a binormal type-2 "
                "receiver operating characteristic {cite}, without a type-1 model: accuracy, the type-2 sensitivity "
                "d_a with AUROC2 = Φ(d_a/√2), and the slope of the z-transformed curve. No ratio M is defined.",
                cite=Cite("galvin2003"),
            )


def _predictors(fit: FitInput, spec: ModelSpec) -> Text:
    formulas = [
        f"{SYMBOLS.get(name, name)} ({LINKS.get(one.link, one.link)}): {_in_the_users_words(fit, one.formula)}"
        for name, one in spec.parameters.items()
    ]
    pooled = ", with log gaps pooled across groups" if spec.criteria.pooling == "partial" else ""
    return say(
        "Each parameter had a linear predictor over the factors of the design, {formulas}; terms with a bar vary by "
        "group. The criteria were those of the levels in use, one set for each {groups}{pooled}. Priors: {priors}.",
        formulas="; ".join(formulas),
        groups=_in_the_users_words(fit, _groups(spec.criteria.formula)),
        pooled=pooled,
        priors="; ".join(
            f"{_in_the_users_words(fit, name)} ~ {describe_prior(prior)}{ON if name.startswith('criteria') else ''}"
            for name, prior in spec.priors.items()
        ),
    )


def _in_the_users_words(fit: FitInput, text: str) -> str:
    """Name factors as the columns that they were read from."""
    for word, column in fit.headline.from_json("columns", {}).items():
        text = re.sub(rf"\b{re.escape(word)}\b", lambda _, column=column: column, text)
    return text


def _groups(formula: str) -> str:
    return formula.split("|")[-1].strip().replace(":", " × ")


def _sampling(fit: FitInput) -> Text:
    facts, source = fit.headline.attributes, f"{fit.file}, hmeta"
    versions = fit.headline.from_json("versions", {})
    backend = str(facts.get("backend", "numpyro"))
    name, cite = ("PyMC", "abrilpla2023") if backend == "pymc" else ("NumPyro", "phan2019")
    return say(
        "Posterior draws were made with the No-U-Turn sampler {nuts} in {name} {version} {cite}: {chains} chains of "
        "{draws} draws after {warmup} warm-up iterations each, target acceptance {accept}, seed {seed}. A fit counts "
        "as converged where every reported quantity has R-hat below {r_hat} and effective sample sizes above {ess} "
        "{vehtari}, without divergent transitions and with E-BFMI above {bfmi} {betancourt}.",
        nuts=Cite("hoffman2014"),
        name=name,
        version=str(versions.get(backend, "")),
        cite=Cite(cite),
        chains=count(float(facts.get("chains", "nan")), "chains", source),
        draws=count(float(facts.get("draws", "nan")), "draws of each chain", source),
        warmup=count(float(facts.get("warmup", "nan")), "warm-up iterations of each chain", source),
        accept=number(float(facts.get("target_accept", "nan")), "g", "target acceptance", source),
        seed=number(float(facts.get("seed", "nan")), ".0f", "seed", source),
        r_hat=number(MAX_R_HAT, "g", "limit of R-hat", "by convention"),
        ess=number(MIN_ESS, "g", "limit of effective sample sizes", "by convention"),
        vehtari=Cite("vehtari2021"),
        bfmi=number(MIN_E_BFMI, "g", "limit of E-BFMI", "by convention"),
        betancourt=Cite("betancourt2016"),
    )


def _reporting(material: Material, fit: FitInput) -> Text:
    options = material.options
    unit = unit_word(fit)
    texts = [
        say(
            "Results are posterior medians with {mass} % {kind} intervals. Averages give each observed combination of "
            "{factors} the same weight; predictions for a {unit} that was not observed add the variation between "
            "{unit}s.",
            mass=number(100 * options.interval, "g", "mass of intervals", "option interval"),
            kind=NAMES[options.kind],
            factors=" × ".join([unit, *factors_of(fit, most=10**6)]),
            unit=unit,
        )
    ]
    if factors_of(fit):
        texts.append(
            say(
                "Differences are reported with the posterior probability of their direction and the share of draws "
                "inside a region of practical equivalence from {low} to {high} {cite}.",
                low=number(options.rope[0], "g", "lower end of the region of practical equivalence", "option rope"),
                high=number(options.rope[1], "g", "upper end of the region of practical equivalence", "option rope"),
                cite=Cite("kruschke2018"),
            )
        )
    return join([*texts, *_checks(fit)])


def _checks(fit: FitInput) -> list[Text]:
    """Return what the fit was checked by, as far as its file holds what that needs."""
    found: list[Text] = []
    if _replicates(fit):
        n = count(_replicates(fit), "replicated data sets", f"{fit.file}, posterior_predictive")
        found.append(say("{n} data sets of ratings replicated given the observed answers", n=n))
    if "log_likelihood" in fit.tree.children:
        found.append(say("the sensitivity of its results to power-scaled priors {cite}", cite=Cite("kallioinen2024")))
    return [say("The fit was checked by {checks}.", checks=join(found, " and by "))] if found else []


def _replicates(fit: FitInput) -> float:
    if "posterior_predictive" not in fit.tree.children:
        return 0.0
    sizes = fit.tree["posterior_predictive"].sizes
    return float(sizes.get("chain", 0) * sizes.get("draw", 0))


def _of_measures() -> Text:
    return say(
        "Measures without a model were computed on the usable answers of each unit, with bias-corrected and "
        "accelerated bootstrap intervals {bca} unless said otherwise. The properties of measures of discrimination "
        "and efficiency are assessed elsewhere {survey}.",
        bca=Cite("efron1987"),
        survey=Cite("rahnev2025"),
    )


def _of_answers() -> Text:
    return say(
        "Where confidence is read as a probability, the expected calibration error {ece} and reliability diagrams use "
        "bins of equal width, the Brier score {brier} none, and calibration after the fact is by cross-fitted beta "
        "maps {beta}: each answer is judged by a map that had not seen it. Risk-coverage curves {selective} show the "
        "share of wrong answers among those kept as a threshold on confidence rises.",
        ece=Cite("naeini2015"),
        brier=Cite("brier1950"),
        beta=Cite("kull2017"),
        selective=Cite("geifman2017"),
    )
