import numpy as np
from matplotlib import pyplot as plt

from bayesjudge import bias
from bayesjudge.bias import certificates

SHIFTS = bias.Shifts.from_frame(
    bias.simulate(random_seed=1, items=200), scale=(0, 100), design="item", rerun="rerun"
)
ABOUT = {"tolerance": 5, "failure_prob": 0.05, "units": "points"}


def test_plot_shifts_draws_every_perturbation_and_the_noise():
    _, ax = plt.subplots()
    found = bias.variance_parts(SHIFTS)
    assert bias.plot_shifts(found, ax=ax) is ax
    assert [t.get_text() for t in ax.get_yticklabels()] == ["format", "order"]
    lines = {line.get_label(): line for line in ax.get_lines()}
    drawn = lines["RMS shift"].get_xdata()
    assert list(drawn) == [found["rms_shift", name].value for name in ("format", "order")]
    assert lines["repeat noise (RMS of a rerun)"].get_xdata()[0] == found["repeat_noise"].value


def test_plot_certificate_says_what_it_promises():
    for alpha, title in ((None, "Certificate"), (1.0, "No certificate")):
        card = certificates.certify(SHIFTS, **ABOUT, alpha=alpha)
        ax = certificates.plot_certificate(card)
        assert ax.get_title(loc="left").startswith(title)
        drawn = " ".join(ax.texts[0].get_text().split())
        assert " ".join(card.text.split()) in drawn


def test_plot_release_holds_all_scores():
    card = certificates.certify(SHIFTS, **ABOUT)
    ax = certificates.plot_release(certificates.release(np.linspace(0, 100, 200), card, center=50))
    assert sum(patch.get_height() for patch in ax.patches) == 400


def test_plot_trade_off_has_a_line_a_tolerance():
    table = certificates.trade_off(SHIFTS, tolerances=[2, 5], failure_prob=0.05, units="points")
    assert table.loc[table["neighbours"] < 100, "range_only"].all()
    assert not table.loc[table["neighbours"] >= 500, "range_only"].any()
    ax = certificates.plot_trade_off(table)
    labels = [line.get_label() for line in ax.get_lines()]
    assert [text for text in labels if text.startswith("tol")] == ["tolerance 2", "tolerance 5"]
