"""Penalized losses of PyTorch tensors: the numbers of the numpy path, computed on the tensor's device."""

import math

import numpy as np
import pytest

from stakes.metrics import penalized_brier_loss, penalized_log_loss

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'stakes[torch]'")
pytestmark = pytest.mark.filterwarnings("ignore::stakes.metrics.ImproperScoreWarning")

LOSSES = {"brier": penalized_brier_loss, "log": penalized_log_loss}
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device.")),
]
TIES = ("fraction", "first", "correct", "wrong")
on_each_device = pytest.mark.parametrize("device", DEVICES)
of_each_kind = pytest.mark.parametrize("kind", LOSSES)


def tied_rows(classes=5, rows=400, dtype=np.float64):
    """Rows of eighths: exact in every precision, with many ties, and zeros away from the true class."""
    rng = np.random.default_rng(7)
    count = rng.multinomial(8, np.full(classes, 1 / classes), size=rows)
    label = np.array([rng.choice(np.flatnonzero(row)) for row in count])
    return label, (count / 8).astype(dtype), rng.integers(0, 3, rows).astype(float)


@on_each_device
@of_each_kind
def test_oracle_values_from_tensors(kind, device, eval_reference):
    compared = 0
    for row in eval_reference["penalised"]["means"]:
        if row["kind"] != kind:
            continue
        prob = torch.tensor(row["q"], dtype=torch.float64, device=device)
        label = torch.tensor(row["label"], device=device)
        each = LOSSES[kind](label, prob, ties=row["ties"], per_sample=True)
        np.testing.assert_allclose(each.cpu(), [float(v) for v in row["each"]], rtol=0, atol=1e-12)
        assert LOSSES[kind](label, prob, ties=row["ties"]) == pytest.approx(float(row["mean"]), abs=1e-12)
        compared += 1
    assert compared >= 8


@on_each_device
@of_each_kind
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-6)])
def test_tensor_and_numpy_agree_in_both_precisions(kind, ties, dtype, tolerance, device):
    loss, rng = LOSSES[kind], np.random.default_rng(3)
    drawn = rng.dirichlet(np.ones(5), 400).astype(dtype)
    for label, prob, weight in (tied_rows(dtype=dtype), (rng.integers(0, 5, 400), drawn, rng.random(400))):
        tensors = torch.tensor(label, device=device), torch.tensor(prob, device=device)
        options = {"ties": ties, "penalty": 1.3}
        theirs = loss(*tensors, per_sample=True, **options)
        assert theirs.device.type == device
        np.testing.assert_allclose(theirs.cpu(), loss(label, prob, per_sample=True, **options), rtol=0, atol=tolerance)
        weighted = loss(*tensors, sample_weight=torch.tensor(weight, device=device), **options)
        assert weighted == pytest.approx(loss(label, prob, sample_weight=weight, **options), abs=tolerance)


@of_each_kind
def test_nothing_leaves_the_device_but_the_mean(kind, monkeypatch):
    label, prob, weight = (torch.tensor(part) for part in tied_rows())

    def refuse(*_args, **_options):
        pytest.fail("the tensor was copied to the host.")

    for name in ("numpy", "cpu", "tolist", "__array__"):
        monkeypatch.setattr(torch.Tensor, name, refuse)
    assert math.isfinite(LOSSES[kind](label, prob, sample_weight=weight))


@of_each_kind
def test_every_form_of_labels_gives_the_same_value(kind):
    label, prob, _ = tied_rows(classes=3)
    expected, tensor = LOSSES[kind](label, prob), torch.tensor(prob)
    names = np.array(["walk", "sit", "lie"])
    assert LOSSES[kind](names[label], tensor, labels=names) == pytest.approx(expected, rel=1e-14)
    assert LOSSES[kind](torch.eye(3)[torch.tensor(label)], tensor) == pytest.approx(expected, rel=1e-14)
    shifted = torch.tensor(label + 10)
    assert LOSSES[kind](shifted, tensor) == pytest.approx(expected, rel=1e-14)
    assert LOSSES[kind](shifted, tensor, labels=[10, 11, 12]) == pytest.approx(expected, rel=1e-14)
    # the columns in another order
    assert LOSSES[kind](shifted, tensor[:, [2, 0, 1]], labels=torch.tensor([12, 10, 11])) == pytest.approx(expected)


def test_settings_reach_the_tensor_path():
    label, prob = [1, 0], [[0.4, 0.4, 0.2], [0.0, 0.5, 0.5]]
    tensor = torch.tensor(prob, dtype=torch.float64)
    for options in ({"penalty": "minimal"}, {"penalty": 0}, {"normalize": True}):
        expected = penalized_brier_loss(label, prob, **options)
        assert penalized_brier_loss(label, tensor, **options) == pytest.approx(expected)
    assert penalized_log_loss(label, tensor) == math.inf
    by_hand = (-math.log(0.4) + math.log(3) / 2 - math.log(1e-3) + math.log(3)) / 2
    assert penalized_log_loss(label, tensor, eps=1e-3) == pytest.approx(by_hand)
    assert penalized_log_loss(label, prob, eps=1e-3) == pytest.approx(by_hand)
    binary = torch.tensor([0.2, 0.7], dtype=torch.float64)
    assert penalized_brier_loss([0, 1], binary) == pytest.approx(penalized_brier_loss([0, 1], [0.2, 0.7]))


def test_infinite_loss_of_weight_zero_is_absent():
    prob = torch.tensor([[0.0, 1.0], [0.5, 0.5]])
    assert penalized_log_loss([0, 0], prob, sample_weight=[0, 1], penalty=0) == pytest.approx(math.log(2))


def test_per_sample_values_carry_the_gradient_of_the_brier_part():
    logits = torch.zeros((1, 3), dtype=torch.float64, requires_grad=True)
    prob = (logits + torch.tensor([[1.0, 0.0, -1.0]])).softmax(1)
    penalized_brier_loss([1], prob, per_sample=True).sum().backward()
    p = prob.detach().numpy()[0]
    residual = 2 * (p - [0, 1, 0])
    np.testing.assert_allclose(logits.grad[0], p * (residual - p @ residual), atol=1e-15)  # by the softmax's Jacobian


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_softmax_is_accepted(dtype):
    rng = np.random.default_rng(0)
    prob = torch.tensor(rng.normal(size=(200, 10))).softmax(1).to(getattr(torch, dtype))
    label = torch.tensor(rng.integers(0, 10, 200))
    exact = penalized_brier_loss(label, prob.double() / prob.double().sum(1, keepdim=True))
    assert penalized_brier_loss(label, prob) == pytest.approx(exact, abs=5e-3)


@pytest.mark.parametrize(
    ("label", "prob", "options", "message"),
    [
        ([0], [[0.5, 0.3, 0.1]], {}, "sum to 1 within 1e-06, got 0.9 in row 0"),
        ([0, 0], [[0.2, 0.3, 0.5], [1.2, -0.2, 0.0]], {}, r"lie in \[0, 1\], got .* in row 1 \(1 rows"),
        ([0], [[np.nan, 0.5, 0.5]], {}, "in row 0"),
        ([0, 1], [[0.2, 0.3, 0.5]], {}, "same length, got 2 and 1"),
        ([7], [[0.2, 0.3, 0.5]], {"labels": [0, 1, 2]}, r"only the labels \[0, 1, 2\], got 7 in row 0"),
        ([], [[0.2, 0.3, 0.5]], {}, "y_true must be 1-D with at least one row"),
        ([7], [[0.2, 0.3, 0.5]], {}, "holds 1 labels but y_prob has 3 columns: pass labels="),
        ([0], [[0.2, 0.3, 0.5]], {"labels": [0, 1, 1]}, "once each"),
        ([[1, 1, 0]], [[0.2, 0.3, 0.5]], {}, "single 1 in each row"),
        ([0], [[0.2, 0.3, 0.5]], {"sample_weight": [-1.0]}, "sample_weight must be finite and >= 0"),
        ([0], [[0.2, 0.3, 0.5]], {"sample_weight": [0.0]}, "sample_weight must not be all zero"),
        ([0], [[0.2, 0.3, 0.5]], {"sample_weight": [1.0, 1.0]}, "one value per row"),
        ([0], [[1.0]], {}, r"at least one row and two classes, got \(1, 1\)"),
        ([0], [[[0.5, 0.5]]], {}, r"at least one row and two classes, got \(1, 1, 2\)"),
        ([], np.zeros((0, 3)), {}, r"at least one row and two classes, got \(0, 3\)"),
    ],
)
def test_invalid_tensors_are_refused(label, prob, options, message):
    tensors = {name: torch.tensor(value) if name == "sample_weight" else value for name, value in options.items()}
    with pytest.raises(ValueError, match=message):
        penalized_brier_loss(torch.tensor(label), torch.tensor(prob, dtype=torch.float64), **tensors)


def test_tensors_of_whole_numbers_are_no_probabilities():
    with pytest.raises(ValueError, match="floating-point"):
        penalized_brier_loss([0], torch.tensor([[1, 0]]))


def test_one_column_of_two_named_classes_asks_for_their_order():
    y, p = torch.tensor([1, 2, 2, 2]), torch.tensor([0.9, 0.1, 0.2, 0.1], dtype=torch.float64)
    for labels in (y, y.numpy()):
        with pytest.raises(ValueError, match=r"y_true holds 1, 2, and y_prob is of one class: pass labels= with"):
            penalized_brier_loss(labels, p)
        found = penalized_brier_loss(labels, p, labels=[2, 1])
        assert found == pytest.approx(penalized_brier_loss([1, 0, 0, 0], p.numpy()), abs=1e-14)
