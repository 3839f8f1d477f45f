"""What a report cites: one place for each reference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Reference(NamedTuple):
    """A publication.

    Attributes
    ----------
    short : str
        As cited in a text: "Fleming, 2017".
    kind : str
        BibTeX's: article, inproceedings, book.
    fields : dict
        BibTeX's, in Unicode.
    """

    short: str
    kind: str
    fields: dict[str, str]

    @property
    def whole(self) -> str:
        """The reference as a list of references prints it."""
        f = self.fields
        where = f.get("journal") or f.get("booktitle") or f.get("publisher", "")
        volume = f" {f['volume']}" if "volume" in f else ""
        number = f"({f['number']})" if "number" in f else ""
        pages = f", {f['pages'].replace('--', '–')}" if "pages" in f else ""
        doi = f". doi:{f['doi']}" if "doi" in f else ""
        return f"{f['author'].replace(' and ', '; ')} ({f['year']}). {f['title']}. {where}{volume}{number}{pages}{doi}"


def _article(short: str, **fields: str) -> Reference:
    return Reference(short, "article", fields)


REFERENCES: dict[str, Reference] = {
    "maniscalco2012": _article(
        "Maniscalco & Lau, 2012",
        author="Maniscalco, Brian and Lau, Hakwan",
        year="2012",
        title="A signal detection theoretic approach for estimating metacognitive sensitivity from confidence ratings",
        journal="Consciousness and Cognition",
        volume="21",
        number="1",
        pages="422--430",
        doi="10.1016/j.concog.2011.09.021",
    ),
    "fleming2014": _article(
        "Fleming & Lau, 2014",
        author="Fleming, Stephen M. and Lau, Hakwan C.",
        year="2014",
        title="How to measure metacognition",
        journal="Frontiers in Human Neuroscience",
        volume="8",
        pages="443",
        doi="10.3389/fnhum.2014.00443",
    ),
    "fleming2017": _article(
        "Fleming, 2017",
        author="Fleming, Stephen M.",
        year="2017",
        title="HMeta-d: hierarchical Bayesian estimation of metacognitive efficiency from confidence ratings",
        journal="Neuroscience of Consciousness",
        volume="2017",
        number="1",
        pages="nix007",
        doi="10.1093/nc/nix007",
    ),
    "galvin2003": _article(
        "Galvin et al., 2003",
        author="Galvin, Susan J. and Podd, John V. and Drga, Vit and Whitmore, John",
        year="2003",
        title="Type 2 tasks in the theory of signal detectability: Discrimination between correct and incorrect "
        "decisions",
        journal="Psychonomic Bulletin & Review",
        volume="10",
        number="4",
        pages="843--876",
        doi="10.3758/BF03196546",
    ),
    "rahnev2025": _article(
        "Rahnev, 2025",
        author="Rahnev, Dobromir",
        year="2025",
        title="A comprehensive assessment of current methods for measuring metacognition",
        journal="Nature Communications",
        volume="16",
        pages="701",
        doi="10.1038/s41467-025-56117-0",
    ),
    "hoffman2014": _article(
        "Hoffman & Gelman, 2014",
        author="Hoffman, Matthew D. and Gelman, Andrew",
        year="2014",
        title="The No-U-Turn Sampler: Adaptively setting path lengths in Hamiltonian Monte Carlo",
        journal="Journal of Machine Learning Research",
        volume="15",
        number="47",
        pages="1593--1623",
    ),
    "phan2019": _article(
        "Phan et al., 2019",
        author="Phan, Du and Pradhan, Neeraj and Jankowiak, Martin",
        year="2019",
        title="Composable effects for flexible and accelerated probabilistic programming in NumPyro",
        journal="arXiv preprint arXiv:1912.11554",
    ),
    "abrilpla2023": _article(
        "Abril-Pla et al., 2023",
        author="Abril-Pla, Oriol and Andreani, Virgile and Carroll, Colin and others",
        year="2023",
        title="PyMC: a modern, and comprehensive probabilistic programming framework in Python",
        journal="PeerJ Computer Science",
        volume="9",
        pages="e1516",
        doi="10.7717/peerj-cs.1516",
    ),
    "vehtari2021": _article(
        "Vehtari et al., 2021",
        author="Vehtari, Aki and Gelman, Andrew and Simpson, Daniel and Carpenter, Bob and Bürkner, Paul-Christian",
        year="2021",
        title="Rank-normalization, folding, and localization: An improved R-hat for assessing convergence of MCMC",
        journal="Bayesian Analysis",
        volume="16",
        number="2",
        pages="667--718",
        doi="10.1214/20-BA1221",
    ),
    "betancourt2016": _article(
        "Betancourt, 2016",
        author="Betancourt, Michael",
        year="2016",
        title="Diagnosing suboptimal cotangent disintegrations in Hamiltonian Monte Carlo",
        journal="arXiv preprint arXiv:1604.00695",
    ),
    "vehtari2017": _article(
        "Vehtari et al., 2017",
        author="Vehtari, Aki and Gelman, Andrew and Gabry, Jonah",
        year="2017",
        title="Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC",
        journal="Statistics and Computing",
        volume="27",
        number="5",
        pages="1413--1432",
        doi="10.1007/s11222-016-9696-4",
    ),
    "kallioinen2024": _article(
        "Kallioinen et al., 2024",
        author="Kallioinen, Noa and Paananen, Topi and Bürkner, Paul-Christian and Vehtari, Aki",
        year="2024",
        title="Detecting and diagnosing prior and likelihood sensitivity with power-scaling",
        journal="Statistics and Computing",
        volume="34",
        number="1",
        pages="57",
        doi="10.1007/s11222-023-10366-5",
    ),
    "kruschke2018": _article(
        "Kruschke, 2018",
        author="Kruschke, John K.",
        year="2018",
        title="Rejecting or accepting parameter values in Bayesian estimation",
        journal="Advances in Methods and Practices in Psychological Science",
        volume="1",
        number="2",
        pages="270--280",
        doi="10.1177/2515245918771304",
    ),
    "higgins2009": _article(
        "Higgins et al., 2009",
        author="Higgins, Julian P. T. and Thompson, Simon G. and Spiegelhalter, David J.",
        year="2009",
        title="A re-evaluation of random-effects meta-analysis",
        journal="Journal of the Royal Statistical Society: Series A",
        volume="172",
        number="1",
        pages="137--159",
        doi="10.1111/j.1467-985X.2008.00552.x",
    ),
    "efron1987": _article(
        "Efron, 1987",
        author="Efron, Bradley",
        year="1987",
        title="Better bootstrap confidence intervals",
        journal="Journal of the American Statistical Association",
        volume="82",
        number="397",
        pages="171--185",
        doi="10.1080/01621459.1987.10478410",
    ),
    "naeini2015": Reference(
        "Naeini et al., 2015",
        "inproceedings",
        {
            "author": "Naeini, Mahdi Pakdaman and Cooper, Gregory F. and Hauskrecht, Milos",
            "year": "2015",
            "title": "Obtaining well calibrated probabilities using Bayesian binning",
            "booktitle": "Proceedings of the AAAI Conference on Artificial Intelligence",
            "volume": "29",
        },
    ),
    "kull2017": Reference(
        "Kull et al., 2017",
        "inproceedings",
        {
            "author": "Kull, Meelis and Silva Filho, Telmo and Flach, Peter",
            "year": "2017",
            "title": "Beta calibration: a well-founded and easily implemented improvement on logistic calibration for "
            "binary classifiers",
            "booktitle": "Proceedings of the 20th International Conference on Artificial Intelligence and Statistics",
            "pages": "623--631",
        },
    ),
    "geifman2017": Reference(
        "Geifman & El-Yaniv, 2017",
        "inproceedings",
        {
            "author": "Geifman, Yonatan and El-Yaniv, Ran",
            "year": "2017",
            "title": "Selective classification for deep neural networks",
            "booktitle": "Advances in Neural Information Processing Systems",
            "volume": "30",
        },
    ),
    "brier1950": _article(
        "Brier, 1950",
        author="Brier, Glenn W.",
        year="1950",
        title="Verification of forecasts expressed in terms of probability",
        journal="Monthly Weather Review",
        volume="78",
        number="1",
        pages="1--3",
    ),
}


def to_bibtex(keys: Iterable[str]) -> str:
    """Return BibTeX entries (UTF-8) in the order of their keys."""
    return "\n\n".join(_entry(key) for key in sorted(set(keys))) + "\n"


def _entry(key: str) -> str:
    reference = REFERENCES[key]
    lines = [f"  {name} = {{{value.replace('&', chr(92) + '&')}}}," for name, value in reference.fields.items()]
    return "\n".join([f"@{reference.kind}{{{key},", *lines, "}"])
