"""Densities of latent rows: they integrate to 1, count what they were fitted to, and smooth as the bandwidth says."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'stakes[torch]'")

from stakes.uncertainty._posterior_network import (  # noqa: E402
    Examples,
    NormalMixture,
    RadialFlows,
    fit_components,
    radial_log_density,
    spread_rows,
    square_distances,
    uncertain_loss,
)

HOW = {"epochs": 30, "batch_size": 128, "learning_rate": 0.02, "patience": 60}


def grid(half_width, n):
    axis = torch.linspace(-half_width, half_width, n, dtype=torch.float64)
    return torch.cartesian_prod(axis, axis), float(axis[1] - axis[0]) ** 2


def examples(index):
    rows = torch.arange(len(index))
    return Examples(None, index, rows[rows % 10 > 0], rows[rows % 10 == 0])


def places(sizes, shares, seed=0, spread=0.05):
    """Rows around far centres, with so many rows and so large a share of the second class."""
    rng = np.random.default_rng(seed)
    centres = np.array([[4.0, 0], [0, 4], [-4, 0], [0, -4]])[: len(sizes)]
    place = np.repeat(np.arange(len(sizes)), sizes)
    index = np.concatenate([np.arange(n) < round(n * share) for n, share in zip(sizes, shares, strict=True)])
    z = centres[place] + spread * rng.normal(size=(len(place), 2))
    return torch.tensor(z), torch.tensor(index.astype(int)), place


@pytest.mark.parametrize("seed", range(4))
def test_random_flow_integrates_to_one(seed):
    generator = torch.Generator().manual_seed(seed)
    centre, alpha, beta = (
        2 * torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((6, 2), (6,), (6,))
    )
    points, cell = grid(14, 1201)
    assert float(radial_log_density(points, centre, alpha, beta).exp().sum() * cell) == pytest.approx(1, abs=2e-3)


def test_flow_without_layers_is_a_normal_density():
    points = torch.tensor([[0.3, -1.2, 2.0]], dtype=torch.float64)
    found = radial_log_density(points, torch.zeros(0, 3), torch.zeros(0), torch.zeros(0))
    normal = torch.distributions.MultivariateNormal(torch.zeros(3, dtype=torch.float64), torch.eye(3).double())
    assert float(found) == pytest.approx(float(normal.log_prob(points)))


@pytest.mark.parametrize("make", [lambda: NormalMixture(3, 2, 7), lambda: RadialFlows(3, 2, 7)])
def test_untrained_densities_of_every_class_integrate_to_one(make):
    torch.manual_seed(1)
    density = make()
    with torch.no_grad():
        if isinstance(density, NormalMixture):
            density.parts["log_weight"].normal_()
        points, cell = grid(14, 701)
        total = density.log_density(points).exp().sum(0) * cell
    np.testing.assert_allclose(total.numpy(), np.ones(3), atol=2e-3)


@pytest.mark.parametrize("make", [lambda: NormalMixture(2, 2, 8), lambda: RadialFlows(2, 2, 12)])
@pytest.mark.parametrize("bandwidth", [0.0, 0.3])
def test_densities_fitted_by_likelihood_integrate_to_one_and_lie_where_the_rows_are(make, bandwidth):
    torch.manual_seed(0)
    z, index, _ = places([300, 100], [0.3, 0.6], spread=0.5)
    density = make()
    density.fit(z.float(), examples(index), bandwidth, **HOW)
    points, cell = grid(14, 701)
    with torch.no_grad():
        found = density.log_density(points.float()).double().exp() * cell
    np.testing.assert_allclose(found.sum(0).numpy(), 1, atol=5e-3)
    right = points[:, 0] > points[:, 1]  # the first place
    # two hills are beyond what radial layers describe exactly
    tolerance = 0.04 if isinstance(density, NormalMixture) else 0.12
    for label, share in enumerate((210 / 250, 90 / 150)):
        assert float(found[right, label].sum()) == pytest.approx(share, abs=tolerance)


def test_mixture_is_the_normal_density_of_each_component_with_its_weight():
    density = NormalMixture(2, 3, 2)
    weights, centres = np.array([[0.2, 0.8], [1.0, 0.0]]), np.array([[0.0, 1, 2], [1, 1, 1]])
    with np.errstate(divide="ignore"):
        density._set(torch.tensor(centres), torch.tensor(np.log(weights)), torch.tensor(math.log(0.3)))
    from scipy.stats import multivariate_normal

    at = np.array([[0.5, 1, 1], [3, 0, 0]])
    each = np.stack([multivariate_normal(c, 0.3 * np.eye(3)).pdf(at) for c in centres])
    with torch.no_grad():
        found = density.log_density(torch.tensor(at)).exp().numpy()
    np.testing.assert_allclose(found, (weights @ each).T, rtol=1e-5)


def test_components_count_the_rows_of_each_class_and_their_scatter():
    z, index, place = places([400, 40, 3], [0.25, 0.5, 1 / 3])
    torch.manual_seed(0)
    centre, variance, counts = fit_components(z, index, 3, 2, 0.0)
    order = [int((centre - torch.tensor(c)).square().sum(1).argmin()) for c in ([4.0, 0], [0, 4], [-4, 0])]
    np.testing.assert_allclose(counts[:, order].numpy(), [[300, 20, 2], [100, 20, 1]], atol=1e-6)
    means = np.stack([z[place == k].mean(0).numpy() for k in range(3)])
    np.testing.assert_allclose(centre[order].numpy(), means, atol=1e-9)
    assert float(variance) == pytest.approx(np.mean((z.numpy() - means[place]) ** 2), rel=1e-6)


def test_a_component_dropped_in_the_last_iteration_takes_its_counts_with_it(monkeypatch):
    z, index, _ = places([400, 40, 3], [0.25, 0.5, 1 / 3])
    monkeypatch.setattr("stakes.uncertainty._posterior_network._ITERATIONS", 1)
    monkeypatch.setattr("stakes.uncertainty._posterior_network._LEAST_ROWS", 10)
    torch.manual_seed(0)
    centre, _, counts = fit_components(z, index, 3, 2, 0.0)
    order = [int((centre - torch.tensor(c)).square().sum(1).argmin()) for c in ([4.0, 0], [0, 4])]
    assert (len(centre), counts.shape) == (2, (2, 2))
    np.testing.assert_allclose(counts[:, order].numpy(), [[300, 20], [100, 20]], atol=1e-3)


def test_more_components_never_fit_worse_by_likelihood():
    z, index, _ = places([200, 200, 200], [0.5] * 3, spread=1.0)
    likelihoods = []
    for n_components in (1, 3, 12):
        torch.manual_seed(0)
        density = NormalMixture(2, 2, n_components)
        density.fit(z.float(), examples(index), 0.0)
        with torch.no_grad():
            likelihoods.append(float(density.log_density(z.float()).gather(1, index[:, None]).mean()))
    assert likelihoods[0] + 0.5 < likelihoods[1] < likelihoods[2]


def test_bandwidth_is_the_noise_that_the_density_is_smoothed_by():
    z, index, _ = places([200, 60], [0.3, 0.9], spread=0.4)
    found = []
    for bandwidth in (0.0, 0.5):
        torch.manual_seed(0)
        density = NormalMixture(2, 2, 2)
        density.fit(z.float(), examples(index), bandwidth)
        found.append(density)
    at = torch.tensor([[4.0, 0.3], [0.8, 3.0]])
    noisy = at[:, None] + 0.5 * torch.randn(2, 200_000, 2, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        smooth = found[1].log_density(at).exp()
        drawn = found[0].log_density(noisy.reshape(-1, 2)).exp().reshape(2, -1, 2).mean(1)
    np.testing.assert_allclose(smooth.numpy(), drawn.numpy(), rtol=0.03, atol=1e-5)


def test_bandwidth_widens_a_flow_too():
    z = torch.tensor(0.1 * np.random.default_rng(0).normal(size=(500, 2))).float()
    index = torch.zeros(500, dtype=torch.long)
    for bandwidth in (0.0, 0.5):
        torch.manual_seed(0)
        density = RadialFlows(1, 2, 8)
        density.fit(z, examples(index), bandwidth, **HOW)
        with torch.no_grad():
            found = float(density.log_density(z).mean())
        variance = 0.01 + bandwidth**2
        assert found == pytest.approx(-math.log(2 * math.pi * variance) - 0.01 / variance, abs=0.4)


@pytest.mark.parametrize("bandwidth", [0.0, 0.7])
def test_rows_of_a_component_have_on_average_all_its_rows_as_evidence(bandwidth):
    rng = np.random.default_rng(0)
    z = torch.tensor(0.3 * rng.normal(size=(5000, 3)) + 2)
    density = NormalMixture(1, 3, 1)
    density.fit(z.float(), examples(torch.zeros(5000, dtype=torch.long)), bandwidth)
    with torch.no_grad():
        found = 5000 * (density.log_density(z.float()).double() + density.log_volume).exp()
    assert float(found.mean()) == pytest.approx(5000, rel=0.03)


def test_volume_of_a_standard_normal_component_is_that_of_the_natural_posterior_network():
    # (4 pi)^(dim / 2), the "normal" certainty budget of Charpentier et al. (2022)
    assert NormalMixture(2, 4, 3).log_volume == pytest.approx(2 * math.log(4 * math.pi))
    assert RadialFlows(2, 4, 3).log_volume == pytest.approx(2 * math.log(4 * math.pi))


def test_a_place_of_equal_rows_has_their_number_as_evidence():
    z = torch.tensor([[0.0, 0.0]] * 30 + [[3.0, 0.0]] * 4)
    index = torch.tensor([0] * 20 + [1] * 10 + [1] * 4)
    torch.manual_seed(0)
    density = NormalMixture(2, 2, 10)
    density.fit(z, examples(index), 0.2)
    assert len(density.parts["centre"]) == 2  # no third place
    with torch.no_grad():
        density_of = (density.log_density(torch.tensor([[0.0, 0.0], [3.0, 0.0]])).double() + density.log_volume).exp()
    np.testing.assert_allclose(density_of.numpy() * [20, 14], [[20, 10], [0, 4]], atol=1e-3)


def test_first_centres_reach_small_places_beside_large_ones():
    rng = np.random.default_rng(0)
    corners = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    place = np.repeat(np.arange(36), [3000, *[2] * 35])
    z = torch.tensor(corners[place] + 0.03 * rng.normal(size=(len(place), 2)))
    torch.manual_seed(0)
    chosen = spread_rows(z, 200, within=0.4)
    assert len(chosen) == 36  # then every row lies within 0.4 of one
    assert len(np.unique(np.round(chosen.numpy()), axis=0)) == 36
    assert len(spread_rows(z, 5, within=0.0)) == 5
    density = NormalMixture(2, 2, 100)
    density.fit(z, examples(torch.tensor(place % 2)), 0.2)
    assert len(density.parts["centre"]) == 36  # what lies within two bandwidths is one place


@pytest.mark.parametrize(("within", "places"), [(0.05, 3), (0.15, 2), (0.45, 1)])
def test_first_centres_are_farther_apart_than_what_is_one_place(within, places):
    z = torch.tensor([[0.0], [0.1], [0.4]], dtype=torch.float64)
    for seed in range(10):
        torch.manual_seed(seed)
        found = spread_rows(z, 3, within=within)
        assert len(found) == places, (seed, found)
        assert bool((square_distances(z, found).min(1).values <= within**2).all())


def test_loss_is_the_expected_cross_entropy_less_the_entropy():
    concentration = torch.tensor([[2.0, 5.0], [1.5, 0.8]], dtype=torch.float64)
    index = torch.tensor([1, 0])
    torch.manual_seed(0)
    drawn = torch.distributions.Dirichlet(concentration).sample((400_000,))
    expected = -drawn.log()[:, [0, 1], index].mean()
    entropy = -torch.distributions.Dirichlet(concentration).log_prob(drawn).mean()
    assert float(uncertain_loss(concentration, index, 0.0)) == pytest.approx(float(expected), abs=0.01)
    assert float(uncertain_loss(concentration, index, 1.0)) == pytest.approx(float(expected - entropy), abs=0.02)


def test_expected_cross_entropy_shares_evidence_by_square_roots_and_likelihood_by_numbers():
    # the reason to fit densities by likelihood: places of one volume, one budget of evidence
    rows = torch.tensor([4.0, 16, 64, 256], dtype=torch.float64)
    place, index = torch.arange(4).repeat_interleave(2), torch.tensor([0, 1] * 4)
    found = {}
    for name in ("expected cross entropy", "likelihood"):
        log_share = torch.zeros(4, dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.LBFGS([log_share], max_iter=500, line_search_fn="strong_wolfe", tolerance_change=1e-14)

        def step(name=name, log_share=log_share, optimizer=optimizer):
            optimizer.zero_grad()
            share = log_share.softmax(0)
            half = 1e5 * share[place, None].expand(8, 2)
            losses = torch.stack([uncertain_loss(half[i : i + 1], index[i : i + 1], 0.0) for i in range(8)])
            loss = (rows[place] * (losses if name != "likelihood" else -share[place].log())).sum()
            scaled = loss if name == "likelihood" else 1e5 * (loss - rows[place].sum() * math.log(2))
            scaled.backward()
            return scaled

        optimizer.step(step)
        share = log_share.softmax(0).detach()
        found[name] = (share / share[0]).numpy()
    np.testing.assert_allclose(found["expected cross entropy"], [1, 2, 4, 8], rtol=0.02)
    np.testing.assert_allclose(found["likelihood"], [1, 4, 16, 64], rtol=0.01)
