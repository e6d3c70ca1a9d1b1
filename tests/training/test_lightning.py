"""Lightning: a training run with early stopping, logging, checkpoints and a killed process."""

import sys

import pytest
from killed_runs import killed_and_whole

from stakes import penalized_brier_loss
from stakes.training import EarlyStopping, lightning_callback

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'stakes[torch]'")
# Lightning's own imports warn of what newer PyTorch and Python deprecate
pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAM = """
import logging, warnings
warnings.simplefilter("ignore")
import lightning, torch
from stakes.training import Checkpoint, EarlyStopping, lightning_callback

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 3)

    def training_step(self, batch, _):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, _):
        return {"y_true": batch[1], "y_prob": self.net(batch[0]).softmax(1)}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.2)

def run(folder, kill):
    torch.manual_seed(3)
    x = torch.randn(300, 4)
    y = (x @ torch.randn(4, 3) + torch.randn(300, 3)).argmax(1)

    def loader(rows):
        return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[rows], y[rows]), batch_size=50)

    checkpoint, stopping = Checkpoint(folder), EarlyStopping(patience=3)

    class Kill(lightning.Callback):
        def on_train_epoch_start(self, trainer, pl_module):
            if kill and stopping.wait == 2:  # past the best epoch, so that the best weights are the checkpoint's
                die()

    model, begin = Model(), checkpoint.epoch
    trainer = lightning.Trainer(
        max_epochs=40, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, callbacks=[lightning_callback(stopping=stopping, checkpoint=checkpoint), Kill()],
    )
    trainer.fit(model, loader(slice(0, 200)), loader(slice(200, 300)), ckpt_path=checkpoint.last_path)
    logged = float(trainer.callback_metrics["val_penalized_brier_loss"])
    value = checkpoint.monitor.evaluate(y[200:], model.net(x[200:]).softmax(1))
    found = {"history": checkpoint.history, "best": stopping.best_epoch, "value": value}
    return found | {"logged": logged, "begin": begin}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL.")
def test_run_stops_restores_and_survives_being_killed(tmp_path):
    pytest.importorskip("lightning", reason="needs Lightning: pip install 'stakes[lightning]'")
    resumed, whole = killed_and_whole(PROGRAM, tmp_path)
    assert len(whole["history"]) == whole["best"] + 4 < 40
    assert resumed["begin"] > whole["best"] == resumed["best"] > 0
    assert resumed["history"] == pytest.approx(whole["history"], abs=1e-6)
    for run in (resumed, whole):
        assert run["value"] == pytest.approx(run["history"][run["best"]], abs=1e-6)
        assert run["logged"] == pytest.approx(run["history"][-1], abs=1e-6)


def test_module_must_return_labels_and_probabilities(tmp_path):
    lightning = pytest.importorskip("lightning", reason="needs Lightning: pip install 'stakes[lightning]'")

    class Model(lightning.LightningModule):
        def __init__(self, returned):
            super().__init__()
            self.net, self.returned = torch.nn.Linear(2, 2), returned

        def training_step(self, batch, _):
            return self.net(batch[0]).sum()

        def validation_step(self, batch, _):
            return self.returned(batch[1], self.net(batch[0]).softmax(1))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.0)

    data = torch.utils.data.TensorDataset(torch.randn(20, 2), torch.randint(0, 2, (20,)))
    loader = torch.utils.data.DataLoader(data, batch_size=6)

    def fit(returned, stopping):
        trainer = lightning.Trainer(
            max_epochs=9,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=tmp_path,
            callbacks=[lightning_callback(stopping=stopping)],
        )
        model = Model(returned)
        trainer.fit(model, loader, loader)
        return model

    with pytest.raises(ValueError, match='"y_true" and "y_prob"'):
        fit(lambda label, _prob: label.sum(), EarlyStopping())
    stopping = EarlyStopping(patience=2)
    weights = torch.arange(1.0, 7.0)
    model = fit(lambda y, p: {"y_true": y, "y_prob": p, "sample_weight": weights[: len(y)]}, stopping)
    assert len(stopping.history) == 3  # nothing was learned: one best epoch and two without improvement
    x, y = data.tensors
    weight = torch.cat([weights[: len(part)] for part in y.split(6)])
    once = penalized_brier_loss(y, model.net(x).softmax(1).detach(), sample_weight=weight)
    assert stopping.best_value == pytest.approx(once, abs=1e-12)
