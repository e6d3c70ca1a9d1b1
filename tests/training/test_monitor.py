"""Monitors: any batches, processes and metrics give the value of all rows at once."""

import itertools
import math
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, strategies as st

from stakes import RowCosts, expected_regret
from stakes.inference import money
from stakes.metrics import METRICS, Metric, penalized_brier_loss, penalized_log_loss
from stakes.training import MetricMonitor

RNG = np.random.default_rng(4)
BINARY = (RNG.integers(0, 2, 300), RNG.integers(1, 40, 300) / 40, RNG.integers(1, 4, 300))
MULTI = (RNG.integers(0, 3, 300), RNG.dirichlet(np.ones(3), 300), RNG.integers(1, 4, 300))


def batches(rows, cuts):
    return [tuple(part[low:high] for part in rows) for low, high in zip([0, *cuts], [*cuts, 300], strict=True)]


@pytest.mark.parametrize("correct", [None, {"scale_pos_weight": 3.0}])
@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.task == "binary"])
def test_rows_evaluated_alone_have_the_value_of_rows_that_stream(name, correct):
    y, p, w = BINARY
    if correct is not None and METRICS[name].response != "probability":
        pytest.skip("there is nothing to correct")
    labels = np.where(y == 1, "yes", "no")
    monitor = MetricMonitor(name, correct=correct, pos_label="yes", **METRICS[name].parameters)
    streamed = MetricMonitor(name, correct=correct, pos_label="yes", **METRICS[name].parameters)
    streamed.update(labels[:100], p[:100], w[:100]).update(labels[100:], p[100:], w[100:])
    assert monitor.evaluate(labels, p, w) == pytest.approx(streamed.compute(), rel=1e-12)


@pytest.mark.parametrize("name", METRICS)
def test_any_registered_metric_streams_to_its_value_on_all_rows(name):
    metric = METRICS[name]
    y, p, w = BINARY if metric.task == "binary" else MULTI
    monitor = MetricMonitor(name, **metric.parameters)
    for part in batches((y, p, w), [1, 7, 8, 120, 256]):
        monitor.update(*part)
    once = metric.function(y, p, sample_weight=w, **metric.parameters)
    assert monitor.compute() == pytest.approx(once, abs=1e-12)
    assert monitor.n_rows == 300
    assert monitor.evaluate(y, p) == pytest.approx(metric.function(y, p, **metric.parameters), abs=1e-12)
    assert monitor.compute() == pytest.approx(once, abs=1e-12)  # evaluate left it alone
    again = pickle.loads(pickle.dumps(monitor))  # noqa: S301
    assert again.update(y[:1], p[:1]).n_rows == 301
    assert monitor.compute() == pytest.approx(once, abs=1e-12)


@pytest.mark.parametrize("name", ["penalized_brier_loss", "bounded_brier_loss", "roc_auc_score", "money"])
def test_a_batch_without_weight_adds_nothing(name):
    y, p, w = MULTI if name == "penalized_brier_loss" else BINARY
    w = np.where(np.arange(300) // 50 == 2, 0, w)
    asked = {"false_positive": 3, "false_negative": 20} if name == "money" else {}
    whole, parts = (MetricMonitor(name, **asked) for _ in range(2))
    for part in batches((y, p, w), [50, 100, 150]):
        parts.update(*part)
    assert parts.compute() == pytest.approx(whole.update(y, p, w).compute(), rel=1e-12)
    with pytest.raises(ValueError, match="sample_weight"):
        parts.update(y[:5], p[:5], np.zeros(4))


def test_an_amount_of_zero_is_no_weight_of_zero():
    monitor = MetricMonitor("money", false_positive=5, false_negative="weight")
    with pytest.raises(ValueError, match="acting never hurts in 0 rows and never helps in 2"):
        monitor.update([0, 1], [0.2, 0.4], [0.0, 0.0])
    with pytest.raises(ValueError, match="sample_weight"):
        MetricMonitor("expected_regret", costs=(0.1, 0.3)).update(
            RowCosts([0, 1], false_positive=1.0, false_negative=2.0), [0.2, 0.4], [0.0, 0.0]
        )


@given(
    st.lists(st.integers(1, 299), max_size=12, unique=True), st.sampled_from(["penalized_log_loss", "roc_auc_score"])
)
def test_cuts_between_batches_and_the_order_of_merging_do_not_matter(cuts, name):
    rows = BINARY if METRICS[name].task == "binary" else MULTI
    parts = [MetricMonitor(name).update(*part) for part in batches(rows, sorted(cuts))]
    forwards, backwards = MetricMonitor(name), MetricMonitor(name)
    for part in parts:
        forwards = forwards.merge(part)
    for part in reversed(parts):
        backwards = part.merge(backwards)
    once = METRICS[name].function(rows[0], rows[1], sample_weight=rows[2])
    assert forwards.compute() == pytest.approx(once, abs=1e-12)
    assert backwards.compute() == pytest.approx(once, abs=1e-12)


def test_sum_of_many_batches_keeps_its_digits():
    # 5000 losses of 2**-59 on top of one of 2: added one after the other none of them would count
    monitor = MetricMonitor("penalized_brier_loss", penalty=0)
    monitor.update([1], [[1.0, 0.0]])
    tiny = [[1.0 - 2.0**-30, 2.0**-30]]
    for _ in range(5000):
        monitor.update([0], tiny)
    exact = math.fsum([2.0] + [2.0**-59] * 5000)
    assert monitor.compute() == exact / 5001
    twice = monitor.merge(monitor)
    for _ in range(12):
        twice = twice.merge(MetricMonitor("penalized_brier_loss", penalty=0).update([0], tiny))
    assert twice.compute() == math.fsum([2 * exact, *[2.0**-59] * 12]) / 10014


def test_infinite_loss_stays_infinite_whatever_follows():
    monitor = MetricMonitor("penalized_log_loss").update([0], [[0.0, 1.0]])
    assert monitor.update([0], [[0.5, 0.5]]).compute() == math.inf
    assert MetricMonitor("penalized_log_loss").update([1], [[0.5, 0.5]]).merge(monitor).compute() == math.inf


def test_infinite_loss_of_weight_zero_is_absent():
    monitor = MetricMonitor("penalized_log_loss", penalty=0)
    assert monitor.update([0, 0], [[0.0, 1.0], [0.5, 0.5]], [0, 2]).compute() == pytest.approx(math.log(2))


def test_batches_without_a_class_need_no_guess():
    # by sorted order the first batch would read labels 1, 2 as column numbers, the second as the first two columns
    monitor = MetricMonitor(labels=[1, 2, 3])
    y, p = np.array([1, 2, 3, 3]), np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.4, 0.3, 0.3]])
    monitor.update(y[:2], p[:2]).update(y[2:], p[2:])
    assert monitor.compute() == pytest.approx(penalized_brier_loss(y, p, labels=[1, 2, 3]), rel=1e-14)
    with pytest.raises(ValueError, match=r"only the labels \[0, 1, 2\], got .*3"):
        MetricMonitor().update([3], p[:1])


def test_string_labels_one_hot_rows_and_positive_label():
    names = np.array(["walk", "sit", "lie"])
    y, p, w = MULTI
    expected = penalized_log_loss(y, p, sample_weight=w)
    named = MetricMonitor("penalized_log_loss", labels=names).update(names[y], p, w)
    one_hot = MetricMonitor("penalized_log_loss").update(np.eye(3)[y].tolist(), p.tolist(), w.tolist())
    assert named.compute() == pytest.approx(expected, rel=1e-13)
    assert one_hot.compute() == pytest.approx(expected, rel=1e-13)
    yes = MetricMonitor("bounded_brier_loss", pos_label="yes", bounds=(0.1, 0.4))
    yes.update(["yes"], [0.3]).update(["no", "yes"], [0.2, 0.35])
    plain = METRICS["bounded_brier_loss"].function([1, 0, 1], [0.3, 0.2, 0.35], bounds=(0.1, 0.4))
    assert yes.compute() == pytest.approx(plain, rel=1e-13)


@pytest.mark.parametrize("negative", [2, 0, -1, "ok"])
@pytest.mark.parametrize("options", [{}, {"logits": True}, {"correct": {"scale_pos_weight": 3.0}}])
def test_batches_of_one_class_read_the_columns_of_the_others(negative, options):
    positive = "bad" if negative == "ok" else 1
    y, p, w = BINARY
    labels, place = np.where(y == 1, positive, negative).astype(object).tolist(), int(negative in {0, -1})
    order = np.concatenate([np.arange(9), 9 + np.argsort(y[9:])])  # the last batch holds positives only
    scores = np.log(p) if "logits" in options else 3.0 * p / (3.0 * p + 1.0 - p) if "correct" in options else p
    other = np.log1p(-p) if "logits" in options else 1.0 - scores
    rows = (
        np.array(labels, dtype=object)[order].tolist(),
        np.column_stack([other, scores])[order],
        w[order].astype(float),
    )
    rows = (rows[0], rows[1] if place else rows[1][:, ::-1], rows[2])
    rows[2][-1], rows[1][-1] = 0.0, [np.nan, 0.5] if not options else rows[1][-1]
    settings = {"bounds": (0.1, 0.4), "pos_label": positive}
    monitor = MetricMonitor("bounded_brier_loss", **settings, **options)
    for part in batches(rows, [9, 280, 290]):
        monitor.update(*part)
    keep = order[:-1]
    wanted = METRICS["bounded_brier_loss"].function(y[keep], p[keep], bounds=(0.1, 0.4), sample_weight=w[keep])
    assert monitor.compute() == pytest.approx(wanted, rel=1e-12)


def parts_of(frame, count, parts):
    return [frame[low:high] for low, high in itertools.pairwise(np.linspace(0, count, parts + 1).astype(int))]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("parts", [1, 2, 20])
@pytest.mark.parametrize("options", [{}, {"logits": True}, {"correct": {"class_weight": {"no": 1, "yes": 3}}}])
def test_two_columns_named_by_labels_are_taken_by_name_in_every_batch(library, parts, options):
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = np.where(rng.random(400) < p, "yes", "no")
    y[:20], y[380:] = ["no", "yes"] * 10, "yes"  # the last batches are of one class
    right = p / (p + 3 * (1 - p)) if "correct" in options else p
    given = np.log(np.column_stack([p, 1 - p])) if "logits" in options else np.column_stack([p, 1 - p])
    frame = pytest.importorskip(library).DataFrame({"yes": given[:, 0], "no": given[:, 1]})
    amounts = {"false_positive": 2.0, "false_negative": 5.0}
    cost = 1000 * np.mean(np.where(right >= 2 / 7, 2.0 * (y == "no"), 5.0 * (y == "yes")))
    higher = right[y == "yes"][:, None] - right[y == "no"]
    expected = {"bounded_brier_loss": np.mean((right - (y == "yes")) ** 2), "roc_auc_score": np.mean(higher > 0)}
    for name, value in {**expected, "money": cost}.items():
        monitor = MetricMonitor(name, pos_label="yes", **options, **(amounts if name == "money" else {}))
        for labels, columns in zip(parts_of(y, 400, parts), parts_of(frame, 400, parts), strict=True):
            monitor.update(labels, columns)
        assert monitor.compute() == pytest.approx(value, rel=1e-12)
        assert monitor.evaluate(y, frame) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("options", [{}, {"logits": True}, {"correct": {"class_weight": {"a": 1, "b": 2, "c": 5}}}])
def test_columns_of_several_classes_are_taken_by_name_whatever_is_undone(library, options):
    rng = np.random.default_rng(0)
    y, prob = rng.integers(0, 3, 60), rng.dirichlet([1.0, 1.0, 1.0], 60)
    undone = prob / [1, 2, 5] if "correct" in options else prob
    undone = undone / undone.sum(axis=1, keepdims=True)
    hot = np.eye(3)[y]
    expected = np.mean(np.sum((undone.cumsum(axis=1) - hot.cumsum(axis=1)) ** 2, axis=1))
    given = np.log(prob) if "logits" in options else prob
    frames = pytest.importorskip(library).DataFrame
    frame, truth = (frames(dict(zip("abc", rows.T, strict=True))) for rows in (given, hot))
    for turned in ("abc", "cab", "bca"):
        columns = frame[[*turned]]
        monitor = MetricMonitor("ordinal_loss", labels=["a", "b", "c"], **options)
        for labels, batch in zip(parts_of(np.array([*"abc"])[y], 60, 3), parts_of(columns, 60, 3), strict=True):
            monitor.update(labels, batch)
        assert monitor.compute() == pytest.approx(expected, rel=1e-12)
        assert monitor.evaluate(truth, columns) == pytest.approx(expected, rel=1e-12)
        crossed = MetricMonitor("penalized_brier_loss", penalty=0, **options).evaluate(truth[[*"bca"]], columns)
        assert crossed == pytest.approx(np.mean(np.sum((undone - hot) ** 2, axis=1)), rel=1e-12)


def test_columns_named_by_numbers_are_of_these_classes_in_every_batch():
    frames = pytest.importorskip("pandas").DataFrame
    prob = np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05]])
    expected = 2 * 0.05**2 + 0.1**2
    named = MetricMonitor("penalized_brier_loss", penalty=0).update([1, 2], frames(prob, columns=[1, 2, 3]))
    assert named.compute() == pytest.approx(expected, rel=1e-12)  # no row is of class 3
    assert named.update([1, 2], prob).compute() == pytest.approx(expected, rel=1e-12)
    counted = MetricMonitor("penalized_brier_loss", penalty=0).update([0, 1], prob)
    for refused in (lambda: named.merge(counted), lambda: counted.update([1, 2], frames(prob, columns=[1, 2, 3]))):
        with pytest.raises(ValueError, match=r"same labels in every batch, got .*pass labels="):
            refused()
    weighed = MetricMonitor("penalized_brier_loss", penalty=0, correct={"class_weight": {3: 5}})
    third = np.array([[0.05, 0.05, 0.9]])
    undone = np.array([0.05, 0.05, 0.18]) / 0.28
    wanted = undone[0] ** 2 + undone[1] ** 2 + (1 - undone[2]) ** 2
    assert weighed.evaluate([3], frames(third, columns=[1, 2, 3])) == pytest.approx(wanted, rel=1e-12)


def test_columns_of_a_batch_of_one_class_are_not_guessed_against_others():
    mixed, alone = ([1, 2], [[0.9, 0.1], [0.2, 0.8]]), ([1, 1], [[0.8, 0.2], [0.7, 0.3]])
    make = partial(MetricMonitor, "bounded_brier_loss", bounds=(0.0, 1.0), pos_label=1)
    wanted = make().evaluate([1, 2, 1, 1], [0.9, 0.2, 0.8, 0.7])
    monitor = make().update(*mixed).update(*alone)
    assert monitor.compute() == pytest.approx(wanted, rel=1e-13)
    assert monitor.evaluate([1, 0], [[0.3, 0.7], [0.6, 0.4]]) == make().evaluate([1, 0], [0.7, 0.4])
    unknown = make().update(*alone)  # of 0 and 1, it seems
    with pytest.raises(ValueError, match="of which one may lack a class: pass the column of the positive class"):
        unknown.update(*mixed)
    with pytest.raises(ValueError, match="of which one may lack a class: pass the column of the positive class"):
        unknown.merge(monitor)
    assert unknown.n_rows == 2
    assert unknown.reset().update(*mixed).merge(make()).update(*alone).compute() == pytest.approx(wanted, rel=1e-13)


def test_batches_of_a_third_label_are_refused_as_in_one_call():
    make = partial(MetricMonitor, "roc_auc_score", pos_label="yes")
    monitor = make().update(["yes", "yes"], [0.3, 0.9]).update(["yes", "no"], [0.8, 0.4]).update(["no"], [0.35])
    for refused in (
        lambda: monitor.update(["nein", "yes"], [0.1, 0.7]),
        lambda: monitor.merge(make().update(["nein"], [0.1])),
    ):
        with pytest.raises(ValueError, match="of the same labels, got 'yes' beside 'no' and beside 'nein'"):
            refused()
    assert monitor.n_rows == 5
    assert monitor.compute() == pytest.approx(4 / 6, rel=1e-12)
    assert MetricMonitor("roc_auc_score").update([0, 1], [0.1, 0.2]).update([-1, 1], [0.3, 0.4]).compute() == 0.75


def test_amounts_of_a_batch_of_one_class_read_the_columns_of_the_others():
    monitor = MetricMonitor("money", per="total")
    monitor.update(
        RowCosts(["bad", "ok"], false_positive=5, false_negative=7, pos_label="bad"), [[0.9, 0.1], [0.2, 0.8]]
    )
    rows = RowCosts(["bad", "bad"], false_positive=5, false_negative=7, pos_label="bad")
    assert monitor.update(rows, [[0.1, 0.9], [0.9, 0.1]]).compute() == 7.0


def test_refused_batch_leaves_the_monitor_as_it_was():
    monitor = MetricMonitor().update([0], [[0.6, 0.4]])
    with pytest.raises(ValueError, match="sum to 1"):
        monitor.update([0], [[0.6, 0.3]])
    assert monitor.compute() == pytest.approx(0.32)


def test_settings_are_checked_before_training_starts():
    with pytest.raises(ValueError, match="registered"):
        MetricMonitor("penalised")
    with pytest.raises(TypeError, match="takes no parameter 'bounds'"):
        MetricMonitor(bounds=(0, 1))
    with pytest.raises(ValueError, match=r"bounds must .*got \(0.3, 0.1\)"):
        MetricMonitor("bounded_brier_loss", bounds=(0.3, 0.1))
    with pytest.raises(TypeError, match="needs costs="):
        MetricMonitor("expected_regret")
    with pytest.raises(TypeError, match="sample_weight is no setting"):
        MetricMonitor(sample_weight=[1])
    with pytest.raises(ValueError, match="per-row values"):
        MetricMonitor(Metric(len, "rows", greater_is_better=True, low=0, high=1, propriety="none", task="multiclass"))
    with pytest.raises(ValueError, match="no row"):
        MetricMonitor().compute()
    with pytest.raises(ValueError, match="alike"):
        MetricMonitor(penalty=1.0).merge(MetricMonitor())


def seen_in_another_process(bounds):
    low, high = bounds
    part = tuple(column[low:high] for column in MULTI)
    return pickle.dumps(MetricMonitor("penalized_log_loss").update(*part))


def test_monitors_of_other_processes_merge():
    with ProcessPoolExecutor(2, mp_context=get_context("fork" if sys.platform == "linux" else "spawn")) as pool:
        parts = [pickle.loads(text) for text in pool.map(seen_in_another_process, [(0, 90), (90, 300)])]  # noqa: S301
    y, p, w = MULTI
    assert parts[0].merge(parts[1]).compute() == pytest.approx(penalized_log_loss(y, p, sample_weight=w), abs=1e-12)


@pytest.mark.parametrize("network", ["lenet5", "wideresnet16_4"])
def test_cifar10_networks_streamed_as_at_once(network, load_data):
    data = load_data(f"cifar10_probs/cifar10_{network}")
    y, p = data["y"].to_numpy(), data.drop(columns="y").to_numpy()
    accuracy, brier, log = {"lenet5": (0.5308, 0.61415, 1.36987), "wideresnet16_4": (0.9109, 0.14387, 0.37817)}[network]
    # the data's README states accuracy, Brier score and log loss
    for loss, plain, penalty in ((penalized_brier_loss, brier, 0.9), (penalized_log_loss, log, math.log(10))):
        once = loss(y, p.astype(np.float32))
        assert once == pytest.approx(plain + penalty * (1 - accuracy), abs=1e-5)
        monitor = MetricMonitor(loss.__name__)
        for start in range(0, len(y), 128):
            monitor.update(y[start : start + 128], p[start : start + 128].astype(np.float32))
        assert monitor.compute() == pytest.approx(once, abs=1e-12)


@pytest.mark.parametrize("kind", ["array", "list", "polars", "tensor"])
@pytest.mark.parametrize("logits", [False, True])
def test_labels_of_one_column_are_labels(kind, logits):
    given = {
        "array": np.asarray,
        "list": np.ndarray.tolist,
        "polars": lambda rows: pytest.importorskip("polars").DataFrame(rows, schema=["a"]),
        "tensor": lambda rows: pytest.importorskip("torch").tensor(rows),
    }[kind]
    y, p, w = BINARY
    p = p / 2.0
    brier = np.average((p - y) ** 2, weights=w)
    cost = np.average(np.where(p >= 0.2, 15.0 * (y == 0), 60.0 * (y == 1)), weights=w)
    wanted = {"bounded_brier_loss": brier, "roc_auc_score": None, "money": 1000.0 * cost, "penalized_brier_loss": None}
    scores = np.log(p / (1.0 - p)) if logits else p
    for name, value in wanted.items():
        asked = {"false_positive": 15, "false_negative": 60} if name == "money" else {}
        monitor, plain = (MetricMonitor(name, logits=logits, **asked) for _ in range(2))
        for part in (slice(0, 50), slice(50, 300)):
            monitor.update(given(y[part, None].astype(float)), given(scores[part, None]), w[part])
            plain.update(y[part], scores[part], w[part])
        assert monitor.compute() == pytest.approx(plain.compute() if value is None else value, abs=1e-9)
        alone = monitor.evaluate(given(y[:, None].astype(float)), given(scores[:, None]), w)
        assert alone == pytest.approx(monitor.compute(), abs=1e-9)


@pytest.mark.parametrize("name", ["penalized_brier_loss", "ordinal_loss"])
def test_labels_of_one_column_are_numbers_of_classes(name):
    y, p, w = MULTI
    once = METRICS[name].function(y, p, sample_weight=w)
    assert MetricMonitor(name).update(y[:, None], p, w).compute() == pytest.approx(once, abs=1e-12)
    with pytest.raises(ValueError, match=r"got shape \(300, 2\)"):
        MetricMonitor(name).update(np.column_stack((y, y)), p, w)


def test_monitor_takes_tensors():
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'stakes[torch]'")
    y, p, w = MULTI
    for name, metric in METRICS.items():
        rows = BINARY if metric.task == "binary" else MULTI
        monitor = MetricMonitor(name, **metric.parameters)
        for part in batches(rows, [40, 150]):
            label, prob, weight = (torch.tensor(column) for column in part)
            monitor.update(label, prob.requires_grad_(), weight)
        once = metric.function(rows[0], rows[1], sample_weight=rows[2], **metric.parameters)
        assert monitor.compute() == pytest.approx(once, abs=1e-12)
    assert MetricMonitor().update(torch.tensor(y), p, torch.tensor(w)).compute() == pytest.approx(
        penalized_brier_loss(y, p, sample_weight=w), abs=1e-12
    )


@pytest.mark.parametrize(
    ("name", "classes"),
    [("bounded_brier_loss", 2), ("roc_auc_score", 2), ("money", 2), ("ordinal_loss", 2), ("ordinal_loss", 3)],
)
def test_probabilities_in_bfloat16_add_up_to_1_as_far_as_these_are_exact(name, classes):
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'stakes[torch]'")
    torch.manual_seed(0)
    prob = torch.randn(200, classes).to(torch.bfloat16).softmax(1)
    y = torch.multinomial(prob.float(), 1)[:, 0].numpy()
    assert (prob.float().sum(1) - 1.0).abs().max() > 1e-3  # beyond what other types may be off
    q = prob.double().numpy()
    q = q / q.sum(axis=1, keepdims=True)
    below = np.cumsum(q, axis=1)[:, :-1] - np.cumsum(np.eye(classes)[y], axis=1)[:, :-1]
    cost = np.where(q[:, 1] >= 0.2, 15.0 * (y == 0), 60.0 * (y == 1))
    wanted = {
        "bounded_brier_loss": lambda: np.mean((q[:, 1] - y) ** 2),
        "roc_auc_score": lambda: _ranked(q[:, 1], y),
        "money": lambda: 1000.0 * cost.mean(),
        "ordinal_loss": lambda: np.mean(np.sum(below**2, axis=1)),
    }[name]()
    monitor = MetricMonitor(name, **({"false_positive": 15, "false_negative": 60} if name == "money" else {}))
    for part in (slice(0, 50), slice(50, 200)):
        monitor.update(torch.tensor(y[part]), prob[part])
    assert monitor.compute() == pytest.approx(wanted, rel=1e-6)
    assert monitor.evaluate(y, prob) == pytest.approx(wanted, rel=1e-6)
    with pytest.raises(ValueError, match="sum to 1"):
        monitor.update(y, prob * 0.9)


def _ranked(score, y):
    gap = score[y == 1][:, None] - score[y == 0]
    return np.mean((gap > 0) + 0.5 * (gap == 0))


def priced(seed=7, n=300):
    """Labels, scores, amounts and weights of rows, and what decisions by the scores cost in a mean row."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 4, n)
    y, w = (rng.random(n) < p).astype(int), rng.integers(1, 4, n).astype(float)
    check, loss = rng.uniform(5, 25, n), rng.lognormal(4, 0.6, n)
    cost = sum(
        weight * (a if score * b >= (1 - score) * a else 0.0)
        if label == 0
        else weight * (0.0 if score * b >= (1 - score) * a else b)
        for label, score, a, b, weight in zip(y, p, check, loss, w, strict=True)
    )
    return (y, p, check, loss, w), cost / w.sum()


def test_money_streams_to_that_of_all_rows():
    (y, p, check, loss, w), each = priced()
    whole = RowCosts(y, false_positive=check, false_negative=loss, sample_weight=w)
    assert money(whole, p).cost.value == pytest.approx(1000 * each, rel=1e-12)
    assert expected_regret(whole, p) == pytest.approx(each, rel=1e-12)
    cuts = [1, 40, 41, 200]
    for per, size in ((None, 1000.0), (1, 1.0), ("total", w.sum())):
        monitor = MetricMonitor("money", **({} if per is None else {"per": per}))
        other = pickle.loads(pickle.dumps(monitor))  # noqa: S301
        for k, part in enumerate(batches((y, p, check, loss, w), cuts)):
            rows = RowCosts(part[0], false_positive=part[2], false_negative=part[3], sample_weight=part[4])
            (other if k % 2 else monitor).update(rows, part[1])
        both = monitor.merge(other)
        assert both.compute() == pytest.approx(size * each, rel=1e-12)
        assert both.n_rows == 300
        assert both.evaluate(whole, p) == pytest.approx(size * each, rel=1e-12)
    assert not monitor.greater_is_better
    doubled = money(whole, p, factor=2.0).cost.value
    assert MetricMonitor("money", factor=2.0).evaluate(whole, p) == pytest.approx(doubled, rel=1e-12)
    gains = RowCosts(y, matrix=(0, 10, 0, -100), sample_weight=w)
    assert MetricMonitor("money").evaluate(gains, p) == pytest.approx(money(gains, p).cost.value, rel=1e-12)


@pytest.mark.parametrize(("positive", "negative"), [("yes", "no"), (0, 1)])
def test_money_takes_any_positive_label(positive, negative):
    y, p, _ = BINARY
    monitor = MetricMonitor("money", false_positive=15, false_negative=60, pos_label=positive)
    cost = 1000 * np.mean(np.where(p >= 0.2, 15 * (y == 0), 60 * (y == 1)))
    assert monitor.evaluate(np.where(y == 1, positive, negative), p) == pytest.approx(cost, rel=1e-12)


@pytest.mark.parametrize(("one", "other"), [("false_negative", "false_positive"), ("false_positive", "false_negative")])
def test_an_amount_may_come_as_the_weight_of_the_row(one, other):
    (y, p, _, loss, _), _ = priced()
    monitor = MetricMonitor("money", **{one: "weight", other: 15})
    for part in batches((y, p, loss), [100, 120]):
        monitor.update(*part)
    wanted = money(RowCosts(y, **{one: loss, other: 15}), p).cost.value
    assert monitor.compute() == pytest.approx(wanted, rel=1e-12)
    with pytest.raises(ValueError, match="passed as the weight of each row, and no weights were passed"):
        monitor.update(y, p)
    assert monitor.compute() == pytest.approx(wanted, rel=1e-12)
    plain = MetricMonitor("money", **{one: 40.0, other: 15}).evaluate(y, p, loss)  # weights of rows, as elsewhere
    wanted = money(RowCosts(y, **{one: 40.0, other: 15}, sample_weight=loss), p).cost.value
    assert plain == pytest.approx(wanted, rel=1e-12)


def test_money_of_corrected_scores_is_that_of_the_probabilities():
    (y, p, check, loss, w), each = priced()
    rows = RowCosts(y, false_positive=check, false_negative=loss, sample_weight=w)
    odds = 9.0 * p / (1.0 - p)
    raised = odds / (1.0 + odds)
    monitor = MetricMonitor("money", correct={"scale_pos_weight": 9})
    assert monitor.evaluate(rows, raised) == pytest.approx(1000 * each, rel=1e-12)
    assert monitor.evaluate(rows, np.column_stack([1 - raised, raised])) == pytest.approx(1000 * each, rel=1e-12)
    assert MetricMonitor("money", logits=True).evaluate(rows, np.log(p / (1 - p))) == pytest.approx(1000 * each)


@pytest.mark.parametrize(
    ("name", "params"), [("expected_regret", {"costs": (0.3, 0.6)}), ("net_benefit_score", {"threshold": 0.5})]
)
def test_other_metrics_of_costs_take_amounts_by_row(name, params):
    (y, p, check, loss, w), _ = priced()
    monitor, function = MetricMonitor(name, **params), METRICS[name].function
    for part in batches((y, p, check, loss, w), [10, 250]):
        rows = RowCosts(part[0], false_positive=part[2], false_negative=part[3], sample_weight=part[4])
        monitor.update(rows, part[1])
    whole = RowCosts(y, false_positive=check, false_negative=loss, sample_weight=w)
    assert monitor.compute() == pytest.approx(function(whole, p, **params), rel=1e-12)


def test_money_refuses_what_it_cannot_use():
    rows = RowCosts([0, 1], false_positive=5, false_negative=[15, 45])
    with pytest.raises(ValueError, match="belong together"):
        MetricMonitor("money", false_positive=5)
    with pytest.raises(
        ValueError, match=r"false_negative must be a number, or .weight. .*amounts by row go into a Row"
    ):
        MetricMonitor("money", false_positive=5, false_negative=[15, 45])
    with pytest.raises(ValueError, match=r"false_negative must be a number, or .weight. .*got 'amount'"):
        MetricMonitor("money", false_positive=5, false_negative="amount")
    with pytest.raises(ValueError, match='per must be "total" or a finite number > 0'):
        MetricMonitor("money", per=-1)
    with pytest.raises(TypeError, match="money takes no parameter 'costs'"):
        MetricMonitor("money", costs=0.1)
    with pytest.raises(ValueError, match="y_true must be labels or an outcome without amounts"):
        MetricMonitor("money", false_positive=5, false_negative=15).update(rows, [0.1, 0.2])
    with pytest.raises(ValueError, match="y_true must be labels or an outcome without amounts"):
        MetricMonitor("money").update(rows, [0.1, 0.2], [1, 2])
    with pytest.raises(ValueError, match="y_true must be labels or an outcome without amounts"):
        MetricMonitor("money", pos_label=1).update(rows, [0.1, 0.2])
    with pytest.raises(ValueError, match="pass either false_positive= and false_negative="):
        MetricMonitor("money").update([0, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="amounts, not probabilities, order these rows"):
        MetricMonitor("roc_auc_score").evaluate(rows, [0.1, 0.2])


def test_monitors_of_log_odds_and_of_probabilities_are_told_apart():
    odds, plain = MetricMonitor("bounded_brier_loss", logits=True), MetricMonitor("bounded_brier_loss")
    assert odds.settings() == plain.settings() | {"logits": "True"}
    with pytest.raises(ValueError, match="monitors must be alike to be merged"):
        odds.merge(plain)


@pytest.mark.parametrize("name", ["bounded_brier_loss", "roc_auc_score", "penalized_brier_loss"])
def test_a_single_column_of_weights_is_taken(name):
    y, p, w = MULTI if METRICS[name].task == "multiclass" else BINARY
    flat = METRICS[name].function(y, p, sample_weight=w)
    assert MetricMonitor(name).update(y, p, w[:, None]).compute() == pytest.approx(flat, rel=1e-12)
    assert MetricMonitor(name).evaluate(y, p, w[:, None]) == pytest.approx(flat, rel=1e-12)
    assert "of no rows yet" in repr(MetricMonitor(name).update(y, p, np.zeros((300, 1))))
    with pytest.raises(ValueError, match=r"sample_weight must have one value per row, got shape \(300, 2\)"):
        MetricMonitor(name).update(y, p, np.ones((300, 2)))


@pytest.mark.parametrize("name", ["y_true", "y_prob", "sample_weight"])
def test_a_single_value_in_place_of_a_row_is_refused_with_the_remedy(name):
    given = {"y_true": [1], "y_prob": [0.3], "sample_weight": [1.0]}
    for method in (MetricMonitor("bounded_brier_loss").update, MetricMonitor("bounded_brier_loss").evaluate):
        with pytest.raises(ValueError, match=rf"{name} must be 1-D, got shape \(\): .* squeeze\(1\) keeps it"):
            method(**given | {name: np.array(given[name][0])})
