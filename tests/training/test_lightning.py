"""Lightning: our metrics as torchmetrics, logged, followed by its own callbacks, and merged over processes."""

import copy
import pickle
import subprocess
import sys

import pytest
from killed_runs import killed_and_whole

from stakes import bounded_brier_loss
from stakes.metrics import penalized_brier_loss, roc_auc_score
from stakes.training import lightning_metric

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'stakes[torch]'")
# Lightning's own imports warn of what newer PyTorch and Python deprecate
pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAM = """
import logging, os, warnings
warnings.simplefilter("ignore")
import lightning, torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from stakes.training import MetricMonitor, lightning_metric

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net, self.brier = torch.nn.Linear(4, 3), lightning_metric()

    def training_step(self, batch, _):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, _):
        self.brier.update(self.net(batch[0]).softmax(1), batch[1])
        self.log("val_brier", self.brier)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.2)

def run(folder, kill):
    torch.manual_seed(3)
    x = torch.randn(300, 4)
    y = (x @ torch.randn(4, 3) + torch.randn(300, 3)).argmax(1)
    values = []

    def loader(rows):
        return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[rows], y[rows]), batch_size=50)

    stopping = EarlyStopping("val_brier", patience=3)

    class Watch(lightning.Callback):
        def on_train_epoch_start(self, trainer, pl_module):
            if kill and stopping.wait_count == 2:
                die()

        def on_train_epoch_end(self, trainer, pl_module):
            values.append(float(trainer.callback_metrics["val_brier"]))

    saving = ModelCheckpoint(folder, monitor="val_brier", save_last=True)
    trainer = lightning.Trainer(
        max_epochs=40, accelerator="cpu", logger=False, enable_progress_bar=False, num_sanity_val_steps=0,
        enable_model_summary=False, callbacks=[stopping, Watch(), saving],
    )
    last = os.path.join(folder, "last.ckpt")
    begun = os.path.exists(last)
    model = Model()
    trainer.fit(model, loader(slice(0, 200)), loader(slice(200, 300)), ckpt_path=last if begun else None)
    # the file holds the state of a callback too, which weights_only=True refuses
    state = torch.load(saving.best_model_path, weights_only=False)["state_dict"]
    model.load_state_dict(state)
    value = MetricMonitor().evaluate(y[200:], model.net(x[200:]).softmax(1))
    return {"values": values, "best": float(saving.best_model_score), "value": value, "resumed": begun}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL.")
def test_run_stops_saves_the_best_and_survives_being_killed(tmp_path):
    pytest.importorskip("lightning", reason="needs Lightning: pip install 'stakes[lightning]'")
    resumed, whole = killed_and_whole(PROGRAM, tmp_path)
    values = whole["values"]
    assert len(values) == values.index(min(values)) + 4 < 40
    assert (whole["resumed"], resumed["resumed"]) == (False, True)
    assert len(resumed["values"]) < 4  # the patience that was left when the process was killed
    assert resumed["values"] == pytest.approx(values[-len(resumed["values"]) :], abs=1e-6)
    for run in (resumed, whole):
        assert run["value"] == pytest.approx(run["best"], abs=1e-6) == pytest.approx(min(values), abs=1e-6)


@pytest.fixture(name="rows")
def binary_rows():
    pytest.importorskip("torchmetrics", reason="needs Lightning: pip install 'stakes[lightning]'")
    torch.manual_seed(0)
    return torch.rand(60), torch.randint(0, 2, (60,)), torch.randint(1, 4, (60,))


def test_batches_give_the_value_of_all_rows_with_the_settings_of_the_metric(rows):
    prob, label, weight = rows
    metric, auc = lightning_metric("bounded_brier_loss", bounds=(0.1, 0.4)), lightning_metric("roc_auc_score")
    for part in torch.arange(60).split(7):
        metric.update(prob[part], label[part], weight[part])
        auc.update(prob[part], label[part])
    expected = bounded_brier_loss(label.numpy(), prob.numpy(), bounds=(0.1, 0.4), sample_weight=weight.numpy())
    assert float(metric.compute()) == pytest.approx(expected, abs=1e-12)
    assert float(auc.compute()) == pytest.approx(roc_auc_score(label.numpy(), prob.numpy()), abs=1e-12)
    assert (metric.higher_is_better, auc.higher_is_better) == (False, True)
    metric.reset()
    assert float(metric(prob[:5], label[:5])) == pytest.approx(
        bounded_brier_loss(label[:5].numpy(), prob[:5].numpy(), bounds=(0.1, 0.4)), abs=1e-12
    )


def test_raw_outputs_of_a_weighted_model_are_corrected(rows):
    prob, label, weight = rows
    bent = torch.logit(prob.double()) + 58.0**0.5  # log-odds of a model whose positives count exp(sqrt(58)) times
    correct = {"scale_pos_weight": float(torch.tensor(58.0**0.5, dtype=torch.float64).exp())}
    metric = lightning_metric("bounded_brier_loss", bounds=(0.1, 0.4), correct=correct, logits=True)
    expected = bounded_brier_loss(label.numpy(), prob.numpy(), bounds=(0.1, 0.4), sample_weight=weight.numpy())
    for sent in (metric, pickle.loads(pickle.dumps(metric))):  # noqa: S301
        sent.update(bent, label, weight)
        assert float(sent.compute()) == pytest.approx(expected, abs=1e-12)


def test_logits_of_several_outputs_are_evaluated_as_their_probabilities():
    pytest.importorskip("torchmetrics", reason="needs Lightning: pip install 'stakes[lightning]'")
    torch.manual_seed(0)
    logits, label = torch.randn(60, 3), torch.randint(0, 3, (60,))
    metric = lightning_metric(logits=True)
    metric.update(logits, label)
    expected = penalized_brier_loss(label.numpy(), logits.double().softmax(1).numpy())
    assert float(metric.compute()) == pytest.approx(expected, abs=1e-12)


def test_targets_of_the_shape_that_binary_cross_entropy_wants_are_taken(rows):
    prob, label, _ = rows
    logit, target = torch.logit(prob.double())[:, None], label[:, None].double()
    assert torch.nn.functional.binary_cross_entropy_with_logits(logit, target) > 0.0
    metric = lightning_metric("bounded_brier_loss", logits=True)
    for part in torch.arange(60).split(7):
        metric.update(logit[part], target[part])
    assert float(metric.compute()) == pytest.approx(float(((logit.sigmoid() - target) ** 2).mean()), abs=1e-12)


@pytest.mark.parametrize("name", ["bounded_brier_loss", "roc_auc_score"])
def test_weights_of_the_shape_of_the_targets_are_taken(rows, name):
    prob, label, weight = rows
    metric, flat = lightning_metric(name), lightning_metric(name)
    for part in torch.arange(60).split(7):
        metric.update(prob[part, None], label[part, None], weight[part, None])
        flat.update(prob[part], label[part], weight[part])
    assert float(metric.compute()) == float(flat.compute())


def test_a_batch_of_one_row_that_was_squeezed_is_refused_with_the_remedy(rows):
    prob, label, _ = (values[:33, None] for values in rows)
    metric = lightning_metric("bounded_brier_loss")
    metric.update(prob[:32].squeeze(), label[:32].squeeze())
    with pytest.raises(ValueError, match=r"preds must be 1-D, got shape \(\): .* squeeze\(1\) keeps it"):
        metric.update(prob[32:].squeeze(), label[32:].squeeze())
    metric.update(prob[32:].squeeze(1), label[32:].squeeze(1))
    assert float(metric.compute()) == pytest.approx(float(((prob.double() - label) ** 2).mean()), abs=1e-12)


def test_metric_with_its_rows_can_be_copied_and_sent_to_another_process(rows):
    prob, label, _ = rows
    metric = lightning_metric("bounded_brier_loss", bounds=(0.1, 0.4))
    metric.update(prob, label)
    sent, copied = pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)  # noqa: S301
    assert float(sent.compute()) == float(copied.compute()) == float(metric.compute())
    copied.update(prob[:1], label[:1])
    assert len(copied.preds) == 2
    assert len(metric.preds) == 1


def test_rows_that_do_not_match_are_refused(rows):
    prob, label, _ = rows
    with pytest.raises(ValueError, match="the same length, got 60, 59 and 59"):
        lightning_metric("roc_auc_score").update(prob, label[1:])
    swapped = lightning_metric()
    swapped.update(label, torch.stack([prob, 1 - prob], 1))
    with pytest.raises(ValueError, match="floating-point"):
        swapped.compute()


TWO_PROCESSES = """
import sys, torch, torch.distributed as dist
from stakes.training import lightning_metric

rank, meeting = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
metric = lightning_metric()
if rank:
    metric.update(torch.tensor([[0.6, 0.4], [0.6, 0.4]]), torch.tensor([0, 1]))
else:
    metric.update(torch.tensor([[0.5, 0.5]]), torch.tensor([0]))
print(float(metric.compute()))
dist.destroy_process_group()
"""


def test_processes_of_torch_distributed_agree_on_one_value(tmp_path):
    pytest.importorskip("torchmetrics", reason="needs Lightning: pip install 'stakes[lightning]'")
    command = [sys.executable, "-W", "ignore", "-c", TWO_PROCESSES]
    running = [
        subprocess.Popen([*command, str(rank), str(tmp_path / "meet")], stdout=subprocess.PIPE, text=True)
        for rank in (0, 1)
    ]
    values = [float(process.communicate(timeout=120)[0]) for process in running]
    expected = penalized_brier_loss([0, 0, 1], [[0.5, 0.5], [0.6, 0.4], [0.6, 0.4]])
    assert values == pytest.approx([expected, expected], rel=1e-7)  # the rows are in single precision


def test_an_amount_is_passed_as_the_weight_of_each_row():
    torch.manual_seed(0)
    p, amount = torch.rand(40, dtype=torch.float64), 50 * torch.rand(40, dtype=torch.float64)
    y = (torch.rand(40) < p).long()
    metric = lightning_metric("money", false_positive=9, false_negative="weight")
    for part in (slice(0, 13), slice(13, 40)):
        metric.update(p[part], y[part], amount[part])
    act = p * amount >= (1 - p) * 9
    cost = torch.where(y == 1, torch.where(act, 0.0, amount), torch.where(act, 9.0, 0.0)).mean()
    assert float(metric.compute()) == pytest.approx(1000 * float(cost), rel=1e-12)
    assert metric.higher_is_better is False
    with pytest.raises(ValueError, match="passed as the weight of each row, and no weights were passed"):
        metric.update(p, y)
