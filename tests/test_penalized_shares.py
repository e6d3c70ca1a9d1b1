"""Shares of right and wrong forecasts, by Monte Carlo, beside a count over all pairs of a lattice."""

import numpy as np
import pytest

from replications import penalized_shares as shares


def lattice(m):
    """Centres of m^2 equal triangles that fill the simplex of three classes; none has a tie at the top."""
    points = []
    for i in range(m):
        for j in range(m - i):
            points.append((i + 1 / 3, j + 1 / 3))
            if i + j < m - 1:
                points.append((i + 2 / 3, j + 2 / 3))
    first = np.array(points) / m
    return np.column_stack([first, 1 - first.sum(axis=1)])


LATTICES = (lattice(110), lattice(113))


def brier(p):
    return 1 - 2 * p[:, 0] + (p**2).sum(axis=1)


def test_shares_of_uniform_forecasts_are_those_of_all_pairs_of_a_lattice():
    # two lattices whose points share no coordinate, so that no pair ties
    x, q = (
        points[(points[:, 0] == points.max(axis=1)) == right]
        for points, right in zip(LATTICES, (True, False), strict=True)
    )
    more = q[None, :, 0] > x[:, None, 0]
    worse = brier(q)[None, :] > brier(x)[:, None]
    found = shares.shares(*shares.pairs("uniform on the simplex", 3, 400_000, 1))
    assert found["q_i > x_i"]["pairs"] == pytest.approx(more.mean(), abs=4e-4)
    assert found["q_i > x_i"]["Brier"] == pytest.approx(worse[more].mean(), abs=0.02)
    assert found["q_i <= x_i"]["Brier"] == worse[~more].mean() == 1.0


@pytest.mark.parametrize("law", shares.LAWS)
@pytest.mark.parametrize("classes", [3, 8])
def test_penalized_scores_put_every_wrong_forecast_below_every_right_one(law, classes):
    x, q = shares.pairs(law, classes, 20_000, 2)
    assert np.all(x[:, 0] == x.max(axis=1))
    assert np.all(q[:, 0] < q.max(axis=1))
    for case, found in shares.shares(x, q).items():
        assert found["penalized Brier"] == found["penalized log"] == 1.0
        assert found["log"] == float(case == "q_i <= x_i")  # by the log score, the probability of the class is all
        assert 0 < found["Brier"] <= 1


def test_laws_are_probabilities_without_an_order_of_classes():
    for law in shares.LAWS.values():
        p = law(np.random.default_rng(0), (50_000, 4))
        assert np.allclose(p.sum(axis=1), 1)
        assert p.min() >= 0
        assert p.mean(axis=0) == pytest.approx(0.25, abs=0.005)


def test_the_command_prints_a_row_for_each_law_and_number_of_classes(capsys):
    shares.main(["--draws", "2000"])
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith(("| uniform", "| scaled", "| softmax")) for line in lines) == 16
    assert "| penalized Brier | 100.000% to 100.000% | 100.000% to 100.000% |" in lines
