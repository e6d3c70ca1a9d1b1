"""`stakes correct`: what is written, what is tested, what is refused."""

import gzip
import json
import math
import re
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit

from stakes.correction import (
    apply_class_weight,
    correct_probabilities,
    implied_weight,
    loss_calibration_test,
    undo_class_weight,
    undo_sampling,
)

pl = pytest.importorskip("polars")


def make(rows=600, seed=1):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 6, rows)
    y = (rng.random(rows) < p).astype(int)
    scores = apply_class_weight(p, scale_pos_weight=30)
    return pl.DataFrame(
        {
            "name": [f'row "{i}", x' for i in range(rows)],
            "code": [f"{i:05d}" for i in range(rows)],
            "risk": scores,
            "other": scores[::-1].copy(),
            "outcome": y,
        }
    )


@pytest.fixture(scope="module")
def frame():
    return make()


@pytest.fixture
def csv(tmp_path, frame):
    path = tmp_path / "scores.csv"
    frame.write_csv(path)
    return path


READ = {
    ".csv": lambda path: pl.read_csv(path, infer_schema_length=None, schema_overrides={"code": pl.String}),
    ".parquet": pl.read_parquet,
    ".arrow": lambda path: pl.read_ipc(path.read_bytes()),
    ".jsonl": pl.read_ndjson,
}
WRITE = {".csv": "write_csv", ".parquet": "write_parquet", ".arrow": "write_ipc", ".jsonl": "write_ndjson"}


@pytest.mark.parametrize("formats", list(product(WRITE, READ)), ids="".join)
def test_every_format_is_read_and_written(formats, frame, cli, folder, tmp_path):
    source, target = formats
    path = tmp_path / f"in{source}"
    getattr(frame, WRITE[source])(path)
    outcome = cli("correct", path, "--models", "risk,other", "--scale-pos-weight", "30", "-o", f"out{target}")
    assert outcome.code == 0, outcome.err
    found = READ[target](folder / f"out{target}")
    assert found.columns == [*frame.columns, "risk_corrected", "other_corrected"]
    assert found["name"].to_list() == frame["name"].to_list()
    assert found["code"].to_list() == frame["code"].to_list()
    for model in ("risk", "other"):
        expected = undo_class_weight(frame[model].to_numpy(), scale_pos_weight=30)
        assert found[f"{model}_corrected"].to_numpy() == pytest.approx(expected, rel=1e-14)
    assert [item.name for item in folder.iterdir()] == [f"out{target}"]


def evaluated(cli, path, *options):
    """Return what `stakes evaluate` finds in a file, but for its name."""
    outcome = cli("evaluate", path, "--label", "y", "--weight", "w", "--costs", "0.1:0.4", "--json", *options)
    assert outcome.code == 0, outcome.err
    page = json.loads(outcome.out)
    return {key: value for key, value in page.items() if key != "source"}


@pytest.mark.parametrize("command", ["correct", "update"])
@pytest.mark.parametrize("target", READ)
@pytest.mark.parametrize("labels", [("0", "1"), ("false", "True")])
def test_copy_in_another_format_is_evaluated_as_the_csv_is(command, target, labels, cli, folder):
    rng, weights = np.random.default_rng(8), ["1", "0.50", " 2 "]
    rows = [
        [f"{k:03d}", f"{p:.3f}", repr(p * p) if k % 7 else "NA", labels[rng.random() < p], str(k % 3), weights[k % 3]]
        for k, p in enumerate(rng.beta(2, 3, 300).tolist())
    ]
    text = "".join(",".join(row) + "\n" for row in [["id", "risk", "other", "y", "site", "w"], *rows])
    (folder / "s.csv").write_text(text, encoding="utf-8")
    how = ["--scale-pos-weight", "3"] if command == "correct" else ["--label", "y"]
    outcome = cli(command, folder / "s.csv", "--models", "risk", *how, "-o", f"o{target}")
    assert outcome.code == 0, outcome.err
    ask = ["--on-missing", "drop", "--models", "risk,other", "--groups", "site"]
    assert evaluated(cli, folder / f"o{target}", *ask) == evaluated(cli, folder / "s.csv", *ask)
    found = READ[target](folder / f"o{target}")
    if target != ".csv":
        assert found["id"].to_list() == [row[0] for row in rows]  # 000 is a name
        assert found["site"].to_list() == [int(row[4]) for row in rows]


def test_column_becomes_numbers_only_where_no_cell_would_change(cli, folder):
    cells = {
        "whole": ["-3", "12345678901234567", "", "NA"],
        "mixed": ["1", ".5", "1e-3", " 2.50 "],
        "late": ["1", "2", "3", "x"],
        "padded": ["1", "2", "03", "4"],
        "long": ["12345678901234567890", "1", "2", "3"],
        "rounded": ["9007199254740993", "0.5", "1", "2"],
        "infinite": ["inf", "1", "2", "3"],
        "share": ["12%", "1", "2", "3"],
        "empty": ["", "", "", ""],
        "flag": ["true", "FALSE", "", "True"],
        "both": ["true", "1", "0", "false"],
    }
    rows = zip(["0.5", "0.25", "0", "1"], *cells.values(), strict=True)
    text = "".join(",".join(row) + "\n" for row in [["risk", *cells], *rows])
    (folder / "s.csv").write_text(text, encoding="utf-8")
    for target in (".parquet", ".arrow", ".jsonl"):
        assert cli("correct", "s.csv", "--models", "risk", "--scale-pos-weight", "3", "-o", f"o{target}").code == 0
        found = READ[target](folder / f"o{target}").to_dict(as_series=False)
        assert found.pop("risk") == [0.5, 0.25, 0.0, 1.0]
        assert found.pop("whole") == [-3, 12345678901234567, None, None]
        assert found.pop("mixed") == [1.0, 0.5, 0.001, 2.5]
        assert found.pop("flag") == [True, False, None, True]
        assert found.pop("risk_corrected") == pytest.approx([0.25, 0.1, 0.0, 1.0])
        assert found == {name: [cell or None for cell in cells[name]] for name in found}
        assert len(found) == 8


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--positive-share", "0.9"], lambda s: undo_class_weight(s, positive_share=0.9)),
        (["--class-weights", "0:2,1:30"], lambda s: undo_class_weight(s, scale_pos_weight=15)),
        (["--class-weights", "1:30"], lambda s: undo_class_weight(s, scale_pos_weight=30)),
        (["--keep", "0:0.05"], lambda s: undo_sampling(s, keep={0: 0.05})),
        (["--keep", "0:0.05", "--repeat", "1:2"], lambda s: undo_sampling(s, keep={0: 0.05}, repeat={1: 2})),
        (["--keep", "no:0.1", "--pos-label", "yes"], lambda s: undo_sampling(s, keep={0: 0.1})),
        (["--repeat", "yes:4", "--pos-label", "yes"], lambda s: undo_sampling(s, repeat={1: 4})),
        (["--class-weights=-1:1,1:7"], lambda s: undo_class_weight(s, scale_pos_weight=7)),
        (
            ["--scale-pos-weight", "3", "--keep", "0:0.1", "--training-prior", "0.01", "--prior", "0.02"],
            lambda s: correct_probabilities(s, class_weight={1: 3}, keep={0: 0.1}, training_prior=0.01, prior=0.02),
        ),
        (
            ["--training-prior", "0.2", "--prior", "0.1"],
            lambda s: correct_probabilities(s, training_prior=0.2, prior=0.1),
        ),
    ],
)
def test_every_way_to_say_what_to_undo(options, expected, csv, cli, folder):
    outcome = cli("correct", csv, "--models", "risk", *options, "-o", "out.csv")
    assert outcome.code == 0, outcome.err
    found = READ[".csv"](folder / "out.csv")
    assert found["risk_corrected"].to_numpy() == pytest.approx(expected(found["risk"].to_numpy()), rel=1e-12)


def test_label_prints_the_test_before_and_after(csv, frame, cli):
    outcome = cli("correct", csv, "--models", "risk", "--scale-pos-weight", "30", "--label", "outcome", "--json")
    assert outcome.code == 0, outcome.err
    page = json.loads(outcome.out)
    assert page["odds_multiplied_by"] == pytest.approx(1 / 30)
    assert page["positive_share_undone"] == pytest.approx(30 / 31)
    y, risk = frame["outcome"].to_numpy(), frame["risk"].to_numpy()
    expected = loss_calibration_test(y, risk, scale_pos_weight=30, random_state=0)
    after = page["tests"]["risk"]["after"]
    assert after["brier"] == pytest.approx(expected.after.brier)
    assert after["tests"]["likelihood ratio"]["p_value"] == pytest.approx(expected.p_value)
    assert after["tests"]["CORP miscalibration"]["p_value"] == pytest.approx(expected.miscalibration_p_value)
    assert page["tests"]["risk"]["before"]["brier"] == pytest.approx(expected.before.brier)
    assert page["tests"]["risk"]["before"]["best_positive_share"] == pytest.approx(expected.implied.positive_share)
    text = cli("correct", csv, "--models", "risk", "--scale-pos-weight", "30", "--label", "outcome").out
    assert "odds multiplied by 0.0333333 (undoes positive share 0.967742)" in text
    assert [line.split()[:2] for line in text.splitlines()[2:4]] == [["risk", "before"], ["risk", "after"]]
    assert "would fit best" in text


@pytest.mark.parametrize("weight", [1, 30])
def test_weight_that_fits_best_beside_a_stated_prior_is_the_one_stated(weight, cli, folder):
    rng = np.random.default_rng(1)
    trained = rng.beta(1, 9, 4000)  # where positives are 10%; 2% where the model is used
    y = rng.random(4000) < expit(logit(trained) + logit(0.02) - logit(0.1))
    scores = apply_class_weight(trained, scale_pos_weight=weight)
    pl.DataFrame({"risk": scores, "y": y.astype(int)}).write_csv(folder / "s.csv")
    ask = ["--scale-pos-weight", f"{weight}"] if weight > 1 else []
    ask += ["--training-prior", "0.1", "--prior", "0.02", "--label", "y"]
    page = json.loads(cli("correct", "s.csv", "--models", "risk", *ask, "--json").out)
    # which weight makes the corrected scores right on average
    moved = logit(scores) + logit(0.02) - logit(0.1)
    best = brentq(lambda c: (y - expit(moved - c)).sum(), -9, 9)
    assert page["tests"]["risk"]["before"]["best_positive_share"] == pytest.approx(expit(best), rel=1e-6)
    assert abs(best - math.log(weight)) < 0.5
    text = " ".join(cli("correct", "s.csv", "--models", "risk", *ask).out.split())
    undone = "undoes positive share 0.967742, and prior 0.1 becomes 0.02" if weight > 1 else "prior 0.1 becomes 0.02"
    assert f"({undone})" in text
    found = re.search(r"beside these priors positive share (\S+) would fit best \((\S+) to (\S+)\)", text)
    share, low, high = map(float, found.groups())
    assert share == pytest.approx(expit(best), abs=1e-4)
    assert low < weight / (1 + weight) < high


def test_large_weights_are_written_as_ratios(cli, folder):
    rng = np.random.default_rng(0)
    p = rng.beta(1, 40, 20000) * 0.05
    frame = {"risk": apply_class_weight(p, scale_pos_weight=50_000), "y": (rng.random(20000) < p).astype(int)}
    pl.DataFrame(frame).write_csv(folder / "s.csv")
    best = implied_weight(frame["y"], frame["risk"])
    low, high = (share / (1 - share) for share in best.interval)
    for stated, shown in (("25000", "25,000"), ("3", "3.00")):  # in the unit of the weight that fits
        ask = ["correct", "s.csv", "--models", "risk", "--scale-pos-weight", stated, "--label", "y"]
        text = " ".join(cli(*ask).out.split())
        assert f"(undoes scale_pos_weight {shown})" in text
        fits = f"risk: scale_pos_weight {best.scale_pos_weight:,.0f} would fit best ({low:,.0f} to {high:,.0f})"
        assert fits in text


def test_the_weight_that_would_fit_is_that_of_each_model(cli, folder):
    rng = np.random.default_rng(0)
    p = rng.beta(1, 4, 5000)
    y = (rng.random(5000) < p).astype(int)
    models = {f"by {weight}": apply_class_weight(p, scale_pos_weight=weight) for weight in (3, 10, 30)}
    pl.DataFrame({"y": y, **models}).write_csv(folder / "s.csv")
    ask = ["correct", "s.csv", "--models", ",".join(models), "--scale-pos-weight", "10", "--label", "y"]
    text = " ".join(cli(*ask).out.split())
    for name, score in models.items():
        best = implied_weight(y, score)
        low, high = best.interval
        fits = f"positive share {best.positive_share:.4g} would fit best ({low:.4g} to {high:.4g})"
        assert f"{name}: {fits}" in text


@pytest.mark.parametrize(
    ("written", "positive"), [("1.0", "1"), ("01", "1"), ("1", "1.0"), ("True", "1"), ("1", "true")]
)
@pytest.mark.parametrize("numbers", ["{}:30", "0:2,{}:30", "{}:30,{positive}:2"])
def test_positive_class_written_otherwise_is_never_taken_for_the_negative_one(written, positive, numbers, cli, folder):
    (folder / "s.csv").write_text("risk,y\n0.9,1.0\n0.5,0.0\n", encoding="utf-8")
    pairs = numbers.format(written, positive=positive)
    outcome = cli(
        "correct", "s.csv", "--models", "risk", "--class-weights", pairs, "--pos-label", positive, "-o", "o.csv"
    )
    assert outcome.code == 2
    assert f"must name a class as --pos-label does, '{positive}'" in " ".join(outcome.err.split())
    assert not (folder / "o.csv").exists()


@pytest.mark.parametrize("option", ["--scale-pos-weight", "--class-weights", "--repeat", "--keep"])
def test_numbers_that_the_library_refuses_are_refused(option, csv, cli):
    text = "1e-300" if option == "--keep" else "1e300"
    pairs = text if option == "--scale-pos-weight" else f"1:{text}"
    outcome = cli("correct", csv, "--models", "risk", option, pairs, "-o", "o.csv")
    assert outcome.code == 2
    assert f"{option} must lie between 1e-100 and 1e+100, got '{text}'" in " ".join(outcome.err.split())


def test_output_and_test_together_and_other_names(csv, cli, folder):
    arguments = ["--models", "risk", "--keep", "0:0.1", "--label", "outcome", "-o", "out.csv", "--suffix", "_p"]
    outcome = cli("correct", csv, *arguments)
    assert outcome.code == 0, outcome.err
    assert "600 rows written to" in outcome.err
    assert "risk_p" in (folder / "out.csv").read_text(encoding="utf-8").splitlines()[0]


def test_standard_input_and_gzip(csv, frame, cli, folder, tmp_path):
    packed = tmp_path / "scores.csv.gz"
    packed.write_bytes(gzip.compress(csv.read_bytes()))
    for argument, stdin in ((packed, None), ("-", csv.read_bytes())):
        outcome = cli("correct", argument, "--models", "risk", "--keep", "0:0.1", "-o", "out.csv", stdin=stdin)
        assert outcome.code == 0, outcome.err
        assert READ[".csv"](folder / "out.csv").height == frame.height


def test_awkward_csv_keeps_its_text(cli, folder, tmp_path):
    path = tmp_path / "awkward.csv"
    path.write_text('id;risk;note\n007; 0.5 ;"a;b"\n008;1e-3;"two\nlines"\n', encoding="utf-8")
    outcome = cli("correct", path, "--models", "risk", "--scale-pos-weight", "9", "-o", "out.csv")
    assert outcome.code == 0, outcome.err
    found = pl.read_csv(folder / "out.csv", separator=";", schema_overrides={"id": pl.String, "risk": pl.String})
    assert found["id"].to_list() == ["007", "008"]
    assert found["note"].to_list() == ["a;b", "two\nlines"]
    assert found["risk_corrected"].to_list() == pytest.approx([0.1, 1e-3 / (1e-3 + 9 * 0.999)])


def test_missing_scores_are_refused_or_dropped(cli, folder, tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("risk,y\n0.5,1\nNA,0\n,1\n0.2,0\n", encoding="utf-8")
    arguments = ["correct", path, "--models", "risk", "--keep", "0:0.5", "-o", "out.csv"]
    outcome = cli(*arguments)
    assert outcome.code == 3
    assert "column 'risk', row 2 (line 3): must not be missing (2 of 4 rows)" in outcome.err
    assert list(folder.iterdir()) == []
    outcome = cli(*arguments, "--on-missing", "drop")
    assert outcome.code == 0
    assert "2 of 4 rows dropped" in outcome.err
    assert pl.read_csv(folder / "out.csv")["y"].to_list() == [1, 0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("risk,y\n0.5,1\n1.5,0\n", "column 'risk', row 2 (line 3): must lie in [0, 1], got 1.5 (1 of 2 rows)"),
        ("risk,y\n0.5,1\n-0.1,0\n", "row 2 (line 3): must lie in [0, 1]"),
        ("risk,y\n0.5,1\nhigh,0\n", "row 2 (line 3): must be a number, got 'high'"),
        ("risk,y\n0.5,1\ninf,0\n", "must lie in [0, 1]"),
        ("risk,y\n", "there is a header and no rows"),
        ("risk,y\n0.5\n", "has 1 field where the header has 2"),
        ("score,y\n0.5,1\n", "column 'risk': there is no such column"),
        ("risk,risk_corrected\n0.5,1\n", "column 'risk_corrected': is there already: choose another --suffix"),
        ("risk,risk\n0.5,1\n", "column names must be distinct"),
        ("risk\nNA\n", "must not be missing"),
    ],
)
def test_bad_data_are_refused_with_their_place(content, message, cli, folder, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(content, encoding="utf-8")
    outcome = cli("correct", path, "--models", "risk", "--keep", "0:0.5", "-o", "out.csv")
    assert outcome.code == 3, outcome.err
    assert message in outcome.err
    assert list(folder.iterdir()) == []


def test_columns_of_other_types_are_refused(cli, tmp_path):
    path = tmp_path / "typed.parquet"
    pl.DataFrame({"risk": [[0.1], [0.2]]}).write_parquet(path)
    outcome = cli("correct", path, "--models", "risk", "--keep", "0:0.5", "-o", "out.csv")
    assert outcome.code == 3
    assert "must hold numbers, not List" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--keep", "0:0.5"], "nothing to do"),
        (["-o", "out.csv"], "say what to undo"),
        (["--positive-share", "0.9", "--scale-pos-weight", "9", "-o", "o.csv"], "give one of"),
        (["--positive-share", "1", "-o", "o.csv"], "--positive-share must be a number between 0 and 1"),
        (["--scale-pos-weight", "0", "-o", "o.csv"], "--scale-pos-weight must be a number > 0"),
        (["--keep", "0.5", "-o", "o.csv"], "--keep must be LABEL:NUMBER"),
        (
            ["--keep", "0:10", "-o", "o.csv"],
            "if one row in 10 was kept, write 0.1; if each row was repeated",
        ),
        (["--repeat", "1:0.5", "-o", "o.csv"], "--repeat takes numbers of at least 1, got 0.5 for '1'"),
        (["--keep", "0:1,0:2", "-o", "o.csv"], "--keep must be LABEL:NUMBER for each class once"),
        (["--keep", "no:0.5", "-o", "o.csv"], "--pos-label says which is positive"),
        (["--keep", "a:1,b:2", "--pos-label", "c", "-o", "o.csv"], "names 2 classes besides the positive one"),
        (["--keep", "0:0.5", "--prior", "0.1", "-o", "o.csv"], "--training-prior and --prior must be given together"),
        (["--keep", "0:0.5", "--weight", "w", "-o", "o.csv"], "--weight is for the test"),
        (["--keep", "0:0.5", "-o", "o.txt"], "--output must name a file that ends in"),
        (["--keep", "0:0.5", "--models", "risk", "-o", "o.csv"], "more than once"),
    ],
)
def test_requests_that_cannot_be_carried_out(arguments, message, csv, cli, folder):
    outcome = cli("correct", csv, "--models", "risk", *arguments)
    assert outcome.code == 2, outcome.err
    assert message in outcome.err
    assert list(folder.iterdir()) == []


def test_scores_that_no_weight_fits_are_said(cli, tmp_path):
    path = tmp_path / "wrong.csv"
    path.write_text("risk,y\n0,1\n0.5,0\n0.4,1\n", encoding="utf-8")
    outcome = cli("correct", path, "--models", "risk", "--keep", "0:0.5", "--label", "y")
    assert outcome.code == 0, outcome.err
    assert "no weight fits: a score of exactly 0 or 1 was wrong" in outcome.out


@pytest.mark.parametrize(
    ("labels", "options", "code"),
    [
        (("no", "yes"), ["--class-weights=Yes:30", "--pos-label=yes"], 2),
        (("no", "yes"), ["--class-weights=nein:1,yes:30", "--pos-label=yes"], 3),
        (("no", "yes"), ["--keep=nay:0.1,yes:1", "--pos-label=yes"], 3),
        (("no", "yes"), ["--class-weights=no:1,yes:30", "--pos-label=yes"], 0),
        ((-1, 1), ["--class-weights=0:1,1:30"], 3),
        ((-1, 1), ["--class-weights=-1:1,1:30"], 0),
        ((1.0, 2.0), ["--class-weights=1:1,2:30", "--pos-label=2"], 0),
        ((1, 2), ["--class-weights=2.0:30", "--pos-label=2"], 2),
        ((False, True), ["--class-weights=false:1,true:30", "--pos-label=true"], 0),
        ((False, True), ["--class-weights=1:30"], 0),
    ],
    ids=str,
)
def test_classes_that_are_no_labels_of_the_file_are_refused(cli, labels, options, code):
    frame = make(100)
    given = [labels[k] for k in frame["outcome"]]
    for form, write in WRITE.items():
        getattr(frame.with_columns(outcome=pl.Series(given)), write)(f"in{form}")
        found = cli("correct", f"in{form}", "--models", "risk", *options, "--label", "outcome", "--json")
        assert found.code == code, found.err
        if code == 0:
            assert json.loads(found.out)["odds_multiplied_by"] == pytest.approx(1 / 30)
        if code == 3:
            assert "column 'outcome': holds" in found.err or "column 'outcome': class '2.0' is" in found.err


def test_a_class_that_differs_from_the_positive_one_in_case_alone_is_refused(csv, cli):
    refused = cli("correct", csv, "--models", "risk", "--class-weights", "Yes:3", "--pos-label", "yes", "-o", "out.csv")
    assert refused.code == 2
    assert "--class-weights must name a class as --pos-label does, 'yes', or the other one, got 'Yes'" in refused.err
    taken = cli("correct", csv, "--models", "risk", "--class-weights", "a:1,A:3", "--pos-label", "A", "-o", "out.csv")
    assert taken.out == "odds multiplied by 0.333333 (undoes positive share 0.75)\n"
