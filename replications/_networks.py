"""Small PyTorch networks on the reference data, with every criterion recorded after each epoch."""

from dataclasses import dataclass

import numpy as np

from replications._classification import data_folder
from stakes.metrics import penalized_brier_loss, penalized_log_loss
from stakes.training import HBlockSplit, segment_windows

CRITERIA = {"brier": "lower", "pbs": "lower", "log": "lower", "pll": "lower", "accuracy": "higher"}
SENSORS = ["acc_frontal", "acc_vertical", "acc_lateral", "rssi"]
WIDTH, STEP = 16, 8


@dataclass(frozen=True)
class Part:
    """Rows to train on, to choose the epoch by, or to test on."""

    X: np.ndarray
    y: np.ndarray


def read(name):
    import pandas as pd

    return pd.read_csv(data_folder() / "data" / name / f"{name}.csv.gz")


def person(seed):
    """Which of 12 trials a window of the chest sensor is from: blocks in time within each trial."""
    data = read("healthy_older_people")
    trial = data["trial"].to_numpy()
    split = HBlockSplit(5, gap=WIDTH)
    blocks = split.blocks(data, groups=trial)
    parts = list(split.split_with_validation(data, groups=trial))[seed % 5]
    windows = [segment_windows(rows, width=WIDTH, step=STEP, groups=blocks) for rows in parts]
    return scaled(sensor_values(data), windows, [trial[rows[:, 0]] - 1 for rows in windows]), 12


def activity(seed):
    """Which of 4 activities most readings of a window are: split by trial."""
    data = read("healthy_older_people")
    trial, doing = data["trial"].to_numpy(), data["activity"].to_numpy() - 1
    order = np.random.default_rng(seed).permutation(np.unique(trial))
    windows, labels = [], []
    for chosen in (order[:6], order[6:9], order[9:]):
        rows = segment_windows(np.flatnonzero(np.isin(trial, chosen)), width=WIDTH, step=STEP, groups=trial)
        windows.append(rows)
        labels.append((doing[rows][:, :, None] == np.arange(4)).sum(axis=1).argmax(axis=1))
    return scaled(sensor_values(data), windows, labels), 4


def letter(seed):
    """Which of 26 letters: 3,000 rows to train, 2,000 to choose by, 5,000 to test."""
    data = read("letter")
    return table(data.drop(columns="letter"), data["letter"], seed, (3000, 2000, 5000)), 26


def image_segmentation(seed):
    """Which of 7 surfaces: half of the rows to train, a quarter each to choose by and to test."""
    data = read("image_segmentation")
    return table(data.drop(columns="class"), data["class"], seed, (1154, 578, 578)), 7


TASKS = {"person": person, "activity": activity, "letter": letter, "image_segmentation": image_segmentation}


def sensor_values(data):
    antenna = data["antenna"].to_numpy()[:, None] == np.arange(1, 5)
    return np.column_stack([data[SENSORS].to_numpy(), antenna]).astype(float)


def table(features, labels, seed, sizes):
    X, y = features.to_numpy(dtype=float), np.unique(labels, return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(len(y))
    rows = np.split(order[: sum(sizes)], np.cumsum(sizes)[:-1])
    return scaled(X, rows, [y[part] for part in rows])


def scaled(X, rows, labels):
    """Scale by what the training rows show, and nothing else."""
    seen = X[np.unique(rows[0])]
    spread = np.maximum(seen.std(axis=0), 1e-9)
    values = ((X - seen.mean(axis=0)) / spread).astype(np.float32)
    return [Part(values[part], y) for part, y in zip(rows, labels, strict=True)]


def network(part, classes):
    from torch import nn

    if part.X.ndim == 2:
        return nn.Sequential(nn.Linear(part.X.shape[1], 48), nn.ReLU(), nn.Linear(48, classes))
    return nn.Sequential(
        *(nn.Conv1d(part.X.shape[2], 24, 5, padding=2), nn.ReLU()),
        *(nn.Conv1d(24, 24, 3, padding=1), nn.ReLU()),
        *(nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(24, classes)),
    )


def values(model, part, classes, name):
    """Every criterion and macro-F1 on one part."""
    import torch
    from sklearn.metrics import f1_score

    with torch.no_grad():
        prob = model(part.X).double().softmax(1)
    top = prob.argmax(1)
    found = {
        "brier": penalized_brier_loss(part.y, prob, penalty=0),
        "pbs": penalized_brier_loss(part.y, prob),
        "log": penalized_log_loss(part.y, prob, penalty=0),
        "pll": penalized_log_loss(part.y, prob),
        "accuracy": float((top == part.y).double().mean()),
        "f1": float(f1_score(part.y, top, average="macro", labels=range(classes), zero_division=0)),
    }
    return {name + key: value for key, value in found.items()}


def history(task, seed, epochs):
    """Train one network and return one record for each epoch."""
    import torch

    parts, classes = TASKS[task](seed)
    torch.manual_seed(seed)
    model = network(parts[0], classes)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    arrays = [part.X if part.X.ndim == 2 else part.X.transpose(0, 2, 1) for part in parts]
    train, chosen, test = (Part(torch.tensor(X), torch.tensor(p.y)) for X, p in zip(arrays, parts, strict=True))
    records = []
    for epoch in range(epochs):
        for rows in torch.randperm(len(train.y)).split(64):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(train.X[rows]), train.y[rows]).backward()
            optimizer.step()
        found = values(model, chosen, classes, "") | values(model, test, classes, "test_")
        records.append({"seed": seed, "epoch": epoch, **found})
    return records
