"""``alpha``: it gives no interval, so that its ends are its value."""

import krippendorff

METHODS = {
    "alpha": {
        "point only": lambda t: (
            [krippendorff.alpha(t["ratings"].T, level_of_measurement="nominal")] * 2
        )
    }
}
