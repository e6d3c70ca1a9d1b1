"""Monte Carlo dropout and the Posterior Network: densities that integrate to 1, evidence where the data is."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import check_estimator

from stakes.uncertainty import PosteriorNetwork, mc_dropout
from stakes.uncertainty._flows import PosteriorModule, radial_log_density, uncertain_loss

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'stakes[torch]'")

X, Y = make_moons(800, noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    torch.set_num_threads(1)
    return PosteriorNetwork((32,), latent_dim=2, n_flow_layers=4, epochs=30, learning_rate=0.01, random_state=0).fit(
        X, np.where(Y == 1, "yes", "no")
    )


def grid(half_width, n):
    axis = torch.linspace(-half_width, half_width, n, dtype=torch.float64)
    return torch.cartesian_prod(axis, axis), float(axis[1] - axis[0]) ** 2


@pytest.mark.parametrize("seed", range(4))
def test_random_flow_integrates_to_one(seed):
    generator = torch.Generator().manual_seed(seed)
    centre, alpha, beta = (
        2 * torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((6, 2), (6,), (6,))
    )
    points, cell = grid(14, 1201)
    assert float(radial_log_density(points, centre, alpha, beta).exp().sum() * cell) == pytest.approx(1, abs=2e-3)


def test_trained_flows_integrate_to_one(fitted):
    points, cell = grid(14, 1201)
    with torch.no_grad():
        total = fitted.module_.log_density(points).exp().sum(0) * cell
    np.testing.assert_allclose(total.numpy(), 1, atol=2e-3)


def test_flow_without_layers_is_a_normal_density():
    points = torch.tensor([[0.3, -1.2, 2.0]], dtype=torch.float64)
    found = radial_log_density(points, torch.zeros(0, 3), torch.zeros(0), torch.zeros(0))
    normal = torch.distributions.MultivariateNormal(torch.zeros(3, dtype=torch.float64), torch.eye(3).double())
    assert float(found) == pytest.approx(float(normal.log_prob(points)))


def test_loss_is_the_expected_cross_entropy_less_the_entropy():
    concentration = torch.tensor([[2.0, 5.0], [1.5, 0.8]], dtype=torch.float64)
    index = torch.tensor([1, 0])
    drawn = torch.distributions.Dirichlet(concentration).sample((400_000,))
    expected = -drawn.log()[:, [0, 1], index].mean()
    entropy = -torch.distributions.Dirichlet(concentration).log_prob(drawn).mean()
    assert float(uncertain_loss(concentration, index, 0.0)) == pytest.approx(float(expected), abs=0.01)
    assert float(uncertain_loss(concentration, index, 1.0)) == pytest.approx(float(expected - entropy), abs=0.02)


def test_evidence_falls_to_the_prior_away_from_the_data(fitted):
    near = np.median(fitted.evidence(X))
    far = fitted.evidence([[40, 40], [-40, 40], [0, -60]])
    assert near > 20
    assert np.all(far < near / 10)
    np.testing.assert_allclose(fitted.predict_proba([[4e4, 4e4]]), 0.5, atol=1e-3)
    assert fitted.evidence([[4e4, 4e4]])[0] == pytest.approx(2)


def test_probabilities_are_the_mean_of_the_posterior_and_predict_well(fitted):
    found, probs = fitted.concentration(X), fitted.predict_proba(X)
    np.testing.assert_allclose(probs, found / fitted.evidence(X)[:, None])
    assert log_loss(Y, probs[:, 1]) < 0.2
    assert np.mean(fitted.predict(X) == np.where(Y == 1, "yes", "no")) > 0.93
    assert list(fitted.classes_) == ["no", "yes"]
    assert fitted.class_counts_.sum() == 720


def test_evidence_orders_regions_by_their_size():
    rng = np.random.default_rng(0)
    sizes = np.array([900, 20, 100, 300])
    centres = np.array([[4, 4], [-4, 4], [4, -4], [-4, -4]])
    region = np.repeat(np.arange(4), sizes)
    rows = centres[region] + 0.5 * rng.normal(size=(len(region), 2))
    y = rng.random(len(region)) < 0.4
    model = PosteriorNetwork((), latent_dim=2, n_flow_layers=12, epochs=60, learning_rate=0.01, random_state=0)
    evidence = model.set_params(patience=60).fit(rows, y).evidence(rows)
    found = [np.median(evidence[region == k]) for k in range(4)]
    assert np.argsort(found).tolist() == np.argsort(sizes).tolist()


def test_same_seed_same_network_and_the_generator_of_torch_is_left_alone():
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    model = PosteriorNetwork((8,), latent_dim=2, epochs=2, random_state=5)
    first, second = (clone(model).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(first.evidence(X), second.evidence(X))
    assert torch.equal(before, torch.random.get_rng_state())
    other = clone(model).set_params(random_state=6).fit(X, Y)
    assert not np.array_equal(first.evidence(X), other.evidence(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).evidence(X), first.evidence(X))  # noqa: S301


def test_best_weights_of_the_held_out_rows_are_kept():
    model = PosteriorNetwork((8,), latent_dim=2, epochs=60, patience=3, learning_rate=0.1, random_state=0).fit(X, Y)
    assert len(model.history_) < 60
    assert len(model.history_) - 1 - int(np.argmin(model.history_)) == 3


def test_own_encoder_and_three_classes():
    encoder = torch.nn.Linear(2, 3)
    weights = encoder.weight.clone()
    labels = Y + (X[:, 0] > 1)
    model = PosteriorNetwork(encoder=encoder, latent_dim=3, epochs=3, random_state=0).fit(X, labels)
    assert model.predict_proba(X).shape == (800, 3)
    assert torch.equal(encoder.weight, weights)  # a copy was trained


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prior": 0}, "prior must be finite and > 0"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"batch_size": 1}, "batch_size must be at least 2"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"likelihood_weight": -1}, "likelihood_weight"),
        ({"dropout": 1}, "dropout"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        PosteriorNetwork(**parameters).fit(X, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")  # a check skipped by its own conditions
def test_scikit_learn_is_content():
    model = PosteriorNetwork((16,), latent_dim=2, n_flow_layers=2, epochs=30, batch_size=32, learning_rate=0.02)
    check_estimator(model.set_params(random_state=0))


def test_one_row_of_each_class_is_refused():
    with pytest.raises(ValueError, match="two rows"):
        PosteriorNetwork().fit([[0.0], [1.0]], [0, 1])


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="one class only"):
        PosteriorNetwork().fit(X, np.zeros(800))


def test_module_gives_the_prior_where_density_vanishes():
    module = PosteriorModule(torch.nn.Identity(), 2, [10.0, 90.0], 2, 0.5)
    density = torch.tensor([[-800.0, np.log(0.1)]])
    np.testing.assert_allclose(module.concentration(density), [[0.5, 9.5]], rtol=1e-6)


def dropout_net(outputs=1):
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(2, 16), torch.nn.BatchNorm1d(16), torch.nn.Dropout(0.5), torch.nn.Linear(16, outputs)
    )


def test_dropout_masks_alone_vary_and_everything_is_put_back():
    net = dropout_net().train()
    net[1].eval()
    statistics = net[1].running_mean.clone()
    before = torch.random.get_rng_state()
    found = mc_dropout(net, X, n_samples=30, random_state=0)
    assert np.all(found.variance > 0)
    assert np.all(found.n_members == 30)
    assert [layer.training for layer in net] == [True, False, True, True]
    assert net.training
    assert torch.equal(net[1].running_mean, statistics)
    assert torch.equal(before, torch.random.get_rng_state())
    np.testing.assert_array_equal(mc_dropout(net, X, n_samples=30, random_state=0).score, found.score)
    assert not np.array_equal(mc_dropout(net, X, n_samples=30, random_state=1).score, found.score)


def test_score_and_variance_are_those_of_all_masks():
    # one unit, kept with probability 0.75 and then scaled: the output takes two values
    net = torch.nn.Sequential(torch.nn.Dropout(0.25))
    found = mc_dropout(net, np.full((20_000, 1), 0.3), n_samples=8, output="probabilities", random_state=0)
    assert found.score.mean() == pytest.approx(0.3, abs=0.003)
    assert found.variance.mean() == pytest.approx(7 / 8 * 0.75 * 0.25 * 0.4**2, abs=0.0005)


def test_two_outputs_are_read_as_classes():
    net = dropout_net(2)
    found = mc_dropout(net, X[:50], n_samples=4, random_state=0)
    wrapped = torch.nn.Sequential(net, torch.nn.Softmax(1))
    same = mc_dropout(wrapped, X[:50], n_samples=4, output="probabilities", random_state=0)
    np.testing.assert_allclose(found.score, same.score, atol=1e-6)


def test_what_dropout_cannot_answer_is_refused():
    with pytest.raises(ValueError, match="dropout layer with p > 0"):
        mc_dropout(torch.nn.Linear(2, 1), X)
    with pytest.raises(ValueError, match="one or two values"):
        mc_dropout(dropout_net(3), X)
    with pytest.raises(ValueError, match="n_samples must be at least 2"):
        mc_dropout(dropout_net(), X, n_samples=1)
    with pytest.raises(ValueError, match="in \\[0, 1\\]"):
        mc_dropout(dropout_net(), 100 * X, output="probabilities")
