"""PyTorch loops: early stopping, best weights, and a run killed half way that ends as the run that was not."""

import math
import sys

import numpy as np
import pytest
from killed_runs import killed_and_whole

from stakes.metrics import penalized_brier_loss
from stakes.training import Checkpoint, EarlyStopping

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'stakes[torch]'")

PROGRAM = """
import torch
from stakes.training import Checkpoint, EarlyStopping

def run(folder, kill):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.randn(300, 4)
    y = (x @ torch.tensor([[1.0, -1, 0], [0, 1, -1], [1, 0, -1], [0.5, 0.5, -1]]) + torch.randn(300, 3)).argmax(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    checkpoint = Checkpoint(folder)
    stopping = EarlyStopping(checkpoint.monitor, patience=4, history=checkpoint.history)
    state = checkpoint.load()
    if state is not None:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    for epoch in range(checkpoint.epoch, 60):
        for part in torch.randperm(200, generator=torch.Generator().manual_seed(epoch)).split(50):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[part]), y[part]).backward()
            optimizer.step()
        if kill and epoch == 4:
            die()
        with torch.no_grad():
            for rows in torch.arange(200, 300).split(30):
                checkpoint.monitor.update(y[rows], model(x[rows]).softmax(1))
        value = checkpoint.monitor.compute()
        checkpoint.monitor.reset()
        checkpoint.step(value, {"model": model.state_dict(), "optimizer": optimizer.state_dict()})
        if stopping.step(value, model):
            break
    weights = [value.tolist() for value in checkpoint.load("best")["model"].values()]
    return {"history": checkpoint.history, "best": checkpoint.best_epoch, "weights": weights}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL.")
def test_killed_run_goes_on_as_if_nothing_had_happened(tmp_path):
    resumed, whole = killed_and_whole(PROGRAM, tmp_path)
    assert resumed == whole
    assert 9 < len(whole["history"]) < 60  # it was early stopping that ended both


def test_best_weights_come_back_and_give_the_best_value(tmp_path):
    torch.manual_seed(1)
    x, y = torch.randn(120, 3), torch.randint(0, 3, (120,))
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
    stopping, checkpoint = EarlyStopping(patience=4), Checkpoint(tmp_path)
    for _ in range(30):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x[:60]), y[:60]).backward()
        optimizer.step()
        with torch.no_grad():
            value = stopping.monitor.evaluate(y[60:], model(x[60:]).softmax(1))
        checkpoint.step(value, {"model": model.state_dict()})
        if stopping.step(value, model):
            break
    assert len(stopping.history) > stopping.best_epoch + 1

    def value_now():
        with torch.no_grad():
            return penalized_brier_loss(y[60:].numpy(), model(x[60:]).softmax(1).numpy())

    assert value_now() > stopping.best_value + 1e-6
    stopping.restore(model)
    assert value_now() == pytest.approx(stopping.best_value, abs=1e-12)
    model.load_state_dict(checkpoint.load("best")["model"])
    assert value_now() == pytest.approx(stopping.best_value, abs=1e-12)


def test_undefined_values_end_a_run_without_best_weights():
    stopping, model = EarlyStopping("roc_auc_score", patience=2), torch.nn.Linear(1, 1)
    assert [stopping.step(math.nan, model) for _ in range(2)] == [False, True]
    assert stopping.best_epoch is None
    with pytest.raises(RuntimeError, match="no best weights"):
        stopping.restore(model)


def test_checkpoint_is_read_without_running_code(tmp_path):
    class Code:
        def __reduce__(self):
            return print, ("code ran",)

    checkpoint = Checkpoint(tmp_path)
    checkpoint.step(0.5, {"model": Code(), "numbers": np.zeros(1)})
    with pytest.raises(Exception, match=r"[Ww]eights.only"):
        checkpoint.load()
