import numpy as np
import pytest
from matplotlib import pyplot as plt

from bayesjudge import bias
from bayesjudge.bias import certificates
from bayesjudge.core.estimate import Estimate, Quantity, Row

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


def test_only_what_is_surely_most_is_named_so():
    def title(**rows):
        made = Quantity.of_rows({(name,): row for name, row in rows.items()}, ("perturbation",))
        ax = bias.plot_shifts(Estimate({"rms_shift": made}, "", 0.95, ""))
        return " ".join(ax.get_title(loc="left").split())

    near, far = Row(3.0, 2.5, 3.5), Row(6.0, 5.0, 7.0)
    assert title(a=near, b=far) == "b moves scores most: by 6.0 (5.0 to 7.0) points"
    assert "no change surely" in title(a=near, b=Row(3.2, 2.7, 3.7))


def test_plot_certificate_draws_the_bound_before_and_after_and_the_tolerance():
    card = certificates.certify(SHIFTS, **ABOUT)
    ax = certificates.plot_certificate(card)
    lengths = [bar.get_width() for bar in ax.patches]
    assert lengths[:2] == [card.shift_bound, card.alpha * card.shift_bound]
    (tolerance,) = ax.get_lines()
    assert tolerance.get_xdata()[0] == card.tolerance >= lengths[1]
    assert len(ax.texts) == 0
    title = " ".join(ax.get_title(loc="left").split())
    assert title.startswith(
        f"Released shrunk to {card.alpha:.2g}, scores move by more than 5 points"
    )


def test_plot_certificate_shows_noise_and_why_nothing_is_certified():
    noisy = certificates.certify(
        SHIFTS, **(ABOUT | {"failure_prob": 0.2}), alpha=0.1, noise_prob=0.1
    )
    ax = certificates.plot_certificate(noisy)
    assert noisy.noise_scale > 0
    *_, noise = ax.patches
    assert noise.get_x() + noise.get_width() == pytest.approx(noisy.tolerance)
    refused = certificates.certify(SHIFTS, **ABOUT, alpha=1.0)
    ax = certificates.plot_certificate(refused)
    assert len(ax.patches) == 1
    assert ax.patches[0].get_width() > refused.tolerance
    title = " ".join(ax.get_title(loc="left").split())
    assert title == f"Nothing is certified: {refused.reason}"


def test_plot_release_holds_all_scores():
    card = certificates.certify(SHIFTS, **ABOUT)
    ax = certificates.plot_release(certificates.release(np.linspace(0, 100, 200), card, center=50))
    assert sum(patch.get_height() for patch in ax.patches) == 400
    assert "rank correlation 1.000" in " ".join(ax.get_title(loc="left").split())


def test_plot_trade_off_has_a_line_a_tolerance():
    table = certificates.trade_off(SHIFTS, tolerances=[2, 5], failure_prob=0.05, units="points")
    assert table.loc[table["neighbours"] < 100, "range_only"].all()
    assert not table.loc[table["neighbours"] >= 500, "range_only"].any()
    ax = certificates.plot_trade_off(table)
    labels = [line.get_label() for line in ax.get_lines()]
    assert [text for text in labels if text.startswith("tol")] == ["tolerance 2", "tolerance 5"]
    best = table.loc[
        table["alpha"].where(table["neighbours"] == table["neighbours"].max()).idxmax()
    ]
    title = " ".join(ax.get_title(loc="left").split())
    assert title.startswith("With 5,000 neighbours and tolerance 5, scores keep ")
    assert f"{best['alpha']:.0%}" in title
