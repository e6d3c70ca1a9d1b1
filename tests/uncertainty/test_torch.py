"""Monte Carlo dropout and the Posterior Network: evidence where the data is, and what training leaves."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import check_estimator

from stakes.uncertainty import PosteriorNetwork, mc_dropout

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'stakes[torch]'")

from stakes.uncertainty._posterior_network import NormalMixture, PosteriorModule, make_shortcut  # noqa: E402

X, Y = make_moons(800, noise=0.2, random_state=0)
SMALL = {"latent_dim": 2, "n_flow_layers": 4, "epochs": 30, "learning_rate": 0.01, "random_state": 0}
KINDS = [
    {"training": "sequential", "density": "mixture"},
    {"training": "sequential", "density": "radial", "bandwidth": 0.1},
    {"training": "joint", "density": "mixture", "bandwidth": 0.1},
    {"training": "joint", "density": "radial", "residual": False},
]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind['density']} {kind['training']}")
def fitted(request):
    torch.set_num_threads(1)
    return PosteriorNetwork((32,), **SMALL, **request.param).fit(X, np.where(Y == 1, "yes", "no"))


def test_trained_densities_integrate_to_one(fitted):
    axis = torch.linspace(-14, 14, 701, dtype=torch.float64)
    with torch.no_grad():
        total = fitted.module_.density.log_density(torch.cartesian_prod(axis, axis)).exp().sum(0) * (28 / 700) ** 2
    np.testing.assert_allclose(total.numpy(), 1, atol=2e-3)


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
    assert fitted.class_counts_.tolist() == [400, 400]


def test_concentrations_are_counts_times_budget_times_density_over_the_prior(fitted):
    model = clone(fitted).set_params(prior=[0.2, 3.0], certainty_budget=0.7).fit(X[:700], Y[:700])
    with torch.no_grad():
        z = model.module_.latent(model._tensor(torch, X))
        density = model.module_.density.log_density(z).double().exp().numpy()
    expected = [0.2, 3.0] + np.bincount(Y[:700]) * 0.7 * density
    np.testing.assert_allclose(model.concentration(X), expected, rtol=1e-5)
    np.testing.assert_allclose(model.predict_proba([[4e4, 4e4]]), [[0.0625, 0.9375]])


def test_budget_is_the_volume_of_the_density_unless_given(fitted):
    volume = np.exp(fitted.module_.density.log_volume)
    with torch.no_grad():
        density = fitted.module_.density.log_density(fitted.module_.latent(fitted._tensor(torch, X))).double().exp()
    np.testing.assert_allclose(fitted.concentration(X), 1 + 400 * volume * density.numpy(), rtol=1e-5)


def test_prior_enters_after_sequential_training():
    first, second = (PosteriorNetwork((16,), **SMALL, prior=p).fit(X, Y).concentration(X) for p in (1.0, (0.1, 5.0)))
    np.testing.assert_allclose(first - 1, second - [0.1, 5.0], atol=1e-9)


def test_entropy_is_rewarded_in_joint_training():
    joint = PosteriorNetwork((16,), **SMALL, training="joint", density="radial", certainty_budget=1.0)
    certain, unsure = (clone(joint).set_params(entropy_weight=w).fit(X, Y).evidence(X) for w in (0.0, 1.0))
    assert np.median(unsure) < 0.5 * np.median(certain)


def test_bandwidth_blurs_joint_training_too():
    joint = PosteriorNetwork((16,), **SMALL, training="joint", density="radial")
    sharp, blurred = (clone(joint).set_params(bandwidth=h).fit(X, Y).evidence(X) for h in (0.0, 2.0))
    assert np.median(blurred) < 0.5 * np.median(sharp)


def test_units_of_features_do_not_matter_and_a_constant_feature_is_borne():
    model = PosteriorNetwork((8,), **{**SMALL, "epochs": 3})
    # powers of two, so that standardised rows are the same to the last bit
    scaled = clone(model).fit(X * [1024, 2**-10], Y).evidence(X * [1024, 2**-10])
    np.testing.assert_array_equal(clone(model).fit(X, Y).evidence(X), scaled)
    raw = clone(model).set_params(standardize=False).fit(X, Y)
    assert float(raw._tensor(torch, X[:1])[0, 0]) == pytest.approx(X[0, 0])
    constant = np.column_stack([X, np.full(800, 3.0)])
    assert np.all(np.isfinite(clone(model).fit(constant, Y).evidence(constant)))


def test_residual_keeps_places_of_one_positivity_apart():
    # an encoder that returns nothing: the rows themselves are all that is left
    class Nothing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(()))

        def forward(self, x):
            return self.weight * x[:, :2]

    torch.manual_seed(0)
    found = {}
    for residual in (True, False):
        model = PosteriorNetwork(encoder=Nothing(), **{**SMALL, "epochs": 1, "learning_rate": 1e-9}, residual=residual)
        probs = model.fit(X, Y).predict_proba(X)[:, 1]
        found[residual] = log_loss(Y, probs)
    assert found[True] < 0.4
    assert found[False] > 0.6


def test_shortcut_is_the_rows_or_their_first_principal_components():
    few = make_shortcut(torch.randn(50, 2), 3)
    np.testing.assert_array_equal(few(torch.tensor([[2.0, -1.0]])).numpy(), [[2, -1, 0]])
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 5)) * [3, 0.1, 2, 0.0, 1] @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    from sklearn.decomposition import PCA

    found = make_shortcut(torch.tensor(rows).float(), 3)(torch.tensor(rows - rows.mean(0)).float()).numpy()
    expected = PCA(3, whiten=True).fit_transform(rows)[:, ::-1]
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-3)
    flat = make_shortcut(torch.tensor([[1.0, 1, 0], [2, 2, 0], [5, 5, 0]]), 2)
    assert torch.isfinite(flat.weight).all()
    assert not flat.weight.requires_grad


def test_shortcut_is_not_trained():
    rows = np.column_stack([X, X[:, 0] ** 2])
    model = PosteriorNetwork((8,), **SMALL).fit(rows, Y)
    fixed = make_shortcut(model._tensor(torch, rows), 2)
    assert torch.equal(model.module_.parts["shortcut"].weight, fixed.weight)


def test_number_of_components_grows_with_the_square_root_of_the_rows():
    assert len(PosteriorNetwork((8,), **SMALL).fit(X, Y).module_.density.parts["centre"]) == 14
    wanted = PosteriorNetwork((8,), **SMALL, n_components=5).fit(X, Y)
    assert len(wanted.module_.density.parts["centre"]) == 5


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


def latents(model, rows):
    return model.module_.latent(model._tensor(torch, rows)).detach()


def test_best_weights_of_the_held_out_rows_are_kept():
    model = PosteriorNetwork((8,), latent_dim=2, epochs=60, patience=3, learning_rate=0.1, random_state=0).fit(X, Y)
    assert len(model.history_) < 60
    assert len(model.history_) - 1 - int(np.argmin(model.history_)) == 3
    best = clone(model).set_params(epochs=int(np.argmin(model.history_)) + 1).fit(X, Y)
    np.testing.assert_array_equal(best.history_, model.history_[: len(best.history_)])
    np.testing.assert_array_equal(latents(best, X), latents(model, X))


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
        ({"prior": [1, 2, 3]}, "one number or one for each of 2 classes"),
        ({"prior": [1, np.nan]}, "prior must be finite and > 0"),
        ({"density": "planar"}, "density"),
        ({"training": "both"}, "training"),
        ({"n_components": 0}, "n_components must be a whole number >= 1, got 0"),
        ({"bandwidth": -0.1}, "bandwidth must be finite and >= 0"),
        ({"certainty_budget": 0}, "certainty_budget must be finite and > 0"),
        ({"learning_rate": np.inf}, "learning_rate"),
        ({"entropy_weight": -1}, "entropy_weight"),
        ({"epochs": 0}, "epochs must be a whole number >= 1, got 0"),
        ({"batch_size": 1}, "batch_size must be a whole number >= 2, got 1"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"dropout": 1}, "dropout"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        PosteriorNetwork(**parameters).fit(X, Y)


@pytest.mark.parametrize("name", ["latent_dim", "n_components", "n_flow_layers", "epochs", "patience", "batch_size"])
@pytest.mark.parametrize("value", [2.5, "3", np.inf])
def test_counts_of_the_network_are_whole(name, value):
    with pytest.raises(ValueError, match=f"{name} must be "):
        PosteriorNetwork(**{name: value}).fit(X, Y)
    with pytest.raises(ValueError, match="hidden must be "):
        PosteriorNetwork((8, value)).fit(X, Y)


@pytest.mark.parametrize("density", ["mixture", "radial"])
def test_whole_numbers_may_be_written_as_decimals(density):
    counts = {"latent_dim": 2, "n_components": 3, "n_flow_layers": 2, "epochs": 2, "patience": 2, "batch_size": 200}
    found, expected = (
        PosteriorNetwork((kind(8),), density=density, random_state=0, **{name: kind(v) for name, v in counts.items()})
        .fit(X, Y)
        .predict_proba(X)
        for kind in (float, int)
    )
    np.testing.assert_array_equal(found, expected)


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
    density = NormalMixture(2, 2, 2)
    parts = (torch.nn.Identity(), None, density, 2)
    module = PosteriorModule(*parts, counts=[10.0, 90.0], prior=[0.5, 0.5], log_budget=0.0)
    found = module.concentration(torch.tensor([[-800.0, np.log(0.1)]]))
    np.testing.assert_allclose(found, [[0.5, 9.5]], rtol=1e-6)


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


def test_batch_normalisation_keeps_its_statistics_in_a_module_that_trains():
    net = dropout_net().train()
    statistics = net[1].running_mean.clone()
    found = mc_dropout(net, X[:100], n_samples=4, random_state=0)
    assert torch.equal(net[1].running_mean, statistics)
    with torch.no_grad():
        net.eval()
        mean = net(torch.tensor(X[:100]).float()).sigmoid()[:, 0].numpy()
    assert abs(found.score.mean() - mean.mean()) < 0.1


def test_second_of_two_outputs_is_positive():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(1e-9))
    with torch.no_grad():
        net[0].weight.zero_()
        net[0].bias.copy_(torch.tensor([0.0, np.log(4.0)]))
    np.testing.assert_allclose(mc_dropout(net, X[:5], n_samples=2, random_state=0).score, 0.8, atol=1e-6)


def test_batches_change_nothing_but_the_masks():
    seen = []

    class Watching(torch.nn.Module):
        def forward(self, x):
            seen.append(len(x))
            return x[:, 0]

    net = torch.nn.Sequential(torch.nn.Dropout(1e-9), Watching())
    found = mc_dropout(net, np.linspace(0, 1, 10)[:, None], n_samples=2, output="probabilities", batch_size=4)
    assert seen == [4, 4, 2, 4, 4, 2]
    np.testing.assert_allclose(found.score, np.linspace(0, 1, 10), atol=1e-6)


def test_what_dropout_cannot_answer_is_refused():
    with pytest.raises(ValueError, match="dropout layer with p > 0"):
        mc_dropout(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.0)), X)
    with pytest.raises(ValueError, match="at least one row"):
        mc_dropout(dropout_net(), np.zeros((0, 2)))
    with pytest.raises(ValueError, match="batch_size must be a whole number >= 1, got 0"):
        mc_dropout(dropout_net(), X, batch_size=0)
    with pytest.raises(ValueError, match="dropout layer with p > 0"):
        mc_dropout(torch.nn.Linear(2, 1), X)
    with pytest.raises(ValueError, match="one or two values"):
        mc_dropout(dropout_net(3), X)
    with pytest.raises(ValueError, match="n_samples must be a whole number >= 2, got 1"):
        mc_dropout(dropout_net(), X, n_samples=1)
    with pytest.raises(ValueError, match="in \\[0, 1\\]"):
        mc_dropout(dropout_net(), 100 * X, output="probabilities")


@pytest.mark.parametrize("name", ["n_samples", "batch_size"])
@pytest.mark.parametrize("value", [5.5, "5", None, np.nan])
def test_numbers_of_passes_and_rows_are_whole(name, value):
    with pytest.raises(ValueError, match=f"{name} must be "):
        mc_dropout(dropout_net(), X, **{name: value})


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.float16])
def test_rows_of_any_floating_point_type_are_those_of_the_array(kind):
    rows = np.round(X[:40] * 4.0) / 4.0  # exact in every type
    for net in (dropout_net(), dropout_net().double()):
        expected = mc_dropout(net, rows, n_samples=4, random_state=0)
        found = mc_dropout(net, torch.tensor(rows, dtype=kind), n_samples=4.0, random_state=0)
        np.testing.assert_array_equal(found.score, expected.score)


@pytest.mark.filterwarnings("error")
def test_rows_that_may_not_be_written_to_are_copied():
    rows = X[:40].astype(np.float32)
    expected = mc_dropout(dropout_net(), rows, n_samples=4, random_state=0)
    rows.flags.writeable = False
    found = mc_dropout(dropout_net(), rows, n_samples=4, random_state=0)
    np.testing.assert_array_equal(found.score, expected.score)
    assert not rows.flags.writeable


def test_numbers_of_an_embedding_stay_whole():
    net = torch.nn.Sequential(
        torch.nn.Embedding(3, 2), torch.nn.Flatten(), torch.nn.Dropout(0.5), torch.nn.Linear(2, 1)
    )
    rows = torch.tensor([[0], [2], [2]])
    assert mc_dropout(net, rows, n_samples=4, random_state=0).score.shape == (3,)
    flat = torch.nn.Sequential(torch.nn.Embedding(3, 2), torch.nn.Dropout(0.5), torch.nn.Linear(2, 1))
    assert mc_dropout(flat, rows[:, 0], n_samples=4, random_state=0).score.shape == (3,)  # one number for each row
    with pytest.raises(ValueError, match=r"X must hold at least one row, got shape \(\)"):
        mc_dropout(flat, rows[0, 0])
