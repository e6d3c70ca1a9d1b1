"""Follow-up, labels looked up for some and amounts by row, from a file of predictions."""

import json

import numpy as np
import pytest

from stakes.outputs.text import join

from .conftest import write_csv

RNG = np.random.default_rng(5)
N = 200
RISK = np.round(RNG.uniform(0.02, 0.9, N), 3)
TIME = np.round(RNG.exponential(3.0 * (1.1 - RISK)), 2)
LEFT = np.round(RNG.exponential(3.0, N), 2)
YEARS, ENDED = np.minimum(TIME, LEFT), (TIME <= LEFT).astype(int)
FOLLOW_UP = ["--time", "years", "--event", "ended"]
ASKED = ["--models", "risk,other", "--costs", "0.1:0.4"]


def kaplan_meier(horizon):
    """The share with the event, multiplied out over event times one at a time."""
    alive = 1.0
    for time in sorted(set(YEARS[ENDED == 1])):
        if time <= horizon:
            alive *= 1.0 - np.sum((time == YEARS) & (ENDED == 1)) / np.sum(time <= YEARS)
    return 1.0 - alive


@pytest.fixture
def followed(tmp_path):
    noisy = np.round(np.clip(RISK + RNG.normal(0, 0.1, N), 0, 1), 3)
    columns = {"ended": ENDED.tolist(), "years": YEARS.tolist(), "risk": RISK.tolist(), "other": noisy.tolist()}
    return write_csv(tmp_path / "followed.csv", columns)


def test_evaluation_is_of_the_event_by_the_horizon(cli, followed, folder):
    shown = cli("evaluate", followed, *FOLLOW_UP, "--horizon", 2, *ASKED, "--report", "page.html")
    assert shown.code == 0, shown.err
    line = f"horizon 2: {((YEARS <= 2) & (ENDED == 1)).sum()} events, {(YEARS >= 2).sum()} event-free"
    assert line in " ".join(shown.out.split())
    assert line in (folder / "page.html").read_text("utf-8")
    found = json.loads(cli("evaluate", followed, *FOLLOW_UP, "--horizon", 2, *ASKED, "--json").out)
    assert line in found["data"]["outcome"]
    assert found["data"]["prevalence"] == pytest.approx(kaplan_meier(2), rel=1e-12)


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_every_horizon_has_an_answer(cli, followed, command):
    several = json.loads(cli(command, followed, *FOLLOW_UP, "--horizon", "1,2", *ASKED, "--json").out)
    alone = json.loads(cli(command, followed, *FOLLOW_UP, "--horizon", "2", *ASKED, "--json").out)
    first, second = several["horizons"]
    assert (first["horizon"], second.pop("horizon")) == (1, 2)
    del alone["format"]
    assert second == (alone["records"][0] if "records" in alone else alone)
    assert "Horizon 2" in cli(command, followed, *FOLLOW_UP, "--horizon", "1,2", *ASKED).out


def test_check_and_options_from_a_file_take_the_horizon(cli, followed, folder):
    (folder / "study.toml").write_text('[stakes]\ntime = "years"\nevent = "ended"\nhorizon = 2\ncosts = [0.1, 0.4]\n')
    shown = cli("check", followed, "--models", "risk", "--config", "study.toml", "--fail-on", "none", "--json")
    assert shown.code == 0, shown.err
    assert "horizon 2" in json.loads(shown.out)["data"]["outcome"]


def test_missing_labels_were_not_looked_up(cli, tmp_path):
    band = (RISK > 0.4).astype(int)
    seen = (band == 1) | (np.arange(N) % 4 == 0)
    ill = [int(t < 2) if s else "" for t, s in zip(TIME, seen, strict=True)]
    path = write_csv(tmp_path / "verified.csv", {"ill": ill, "band": band.tolist(), "risk": RISK.tolist()})
    shown = cli("evaluate", path, "--label", "ill", "--verified-by", "band", "--models", "risk", "--json")
    rate = sum((band == b).mean() * np.mean(TIME[seen & (band == b)] < 2) for b in (0, 1))
    assert json.loads(shown.out)["data"]["prevalence"] == pytest.approx(rate, rel=1e-12)


@pytest.fixture
def orders(tmp_path):
    amount = np.round(RNG.lognormal(3, 0.5, N), 2)
    fraud = (RNG.random(N) < RISK).astype(int)
    columns = {"fraud": fraud.tolist(), "amount": amount.tolist(), "risk": RISK.tolist()}
    columns["part"] = [0, 1] * (N // 2)
    columns["other"] = np.round(np.clip(RISK + RNG.normal(0, 0.2, N), 0, 1), 3).tolist()
    return write_csv(tmp_path / "orders.csv", columns), np.array(fraud), amount


AMOUNTS = ["--false-positive-cost", "15", "--false-negative-cost", "amount", "--unit", "EUR"]


def test_amounts_by_row_are_money(cli, orders):
    path, fraud, amount = orders
    found = json.loads(cli("evaluate", path, "--label", "fraud", "--models", "risk", *AMOUNTS, "--json").out)
    wrong = (RISK * amount >= (1 - RISK) * 15) != fraud
    cost = np.where(fraud == 1, amount, 15)[wrong].sum() / N * 1000
    record = next(r for r in found["money"] if r["metric"] == "cost")
    assert record["value"] == pytest.approx(cost, rel=1e-12)
    shown = " ".join(cli("evaluate", path, "--label", "fraud", "--models", "risk", *AMOUNTS).out.split())
    assert record["per"] == 1000
    for per, factor, words in (("1", 1 / 1000, "per row"), ("total", N / 1000, "in total")):
        asked = ["evaluate", path, "--label", "fraud", "--models", "risk", *AMOUNTS, "--per", per, "--groups", "part"]
        record = next(r for r in json.loads(cli(*asked, "--json").out)["money"] if r["metric"] == "cost")
        assert record["value"] == pytest.approx(cost * factor, rel=1e-12)
        printed = " ".join(cli(*asked, "--report", f"{per}.html").out.split())
        assert f"cost: {words} in EUR" in printed
        assert f"cost and gain: {words}" in printed
        assert f"Cost and gain of each model, EUR {words}" in (path.parent / "work" / f"{per}.html").read_text("utf-8")
    assert "with amounts as stated" in shown
    assert "per 1,000 EUR at stake" in shown
    assert "cost: per 1,000 rows in EUR" in shown
    assert "EUR at stake" in " ".join(cli("check", path, "--label", "fraud", "--models", "risk", *AMOUNTS).out.split())
    page = cli("evaluate", path, "--label", "fraud", "--models", "risk", *AMOUNTS, "--report", "page.html")
    assert page.code == 0, page.err
    assert "EUR per 1,000 rows" in (path.parent / "work" / "page.html").read_text("utf-8")
    ranged = ["--costs", "0.4:0.6", "--groups", "part"]
    shown = cli("evaluate", path, "--label", "fraud", "--models", "risk", *AMOUNTS, *ranged)
    assert "held: whose amounts are as stated" in " ".join(shown.out.split())
    assert "cost and gain: per 1,000 rows" in " ".join(shown.out.split())
    compared = json.loads(cli("compare", path, "--label", "fraud", "--models", "risk,other", *AMOUNTS, "--json").out)[
        "records"
    ]
    assert compared[0]["difference"] < 0


def test_each_note_on_money_names_its_model_and_its_numbers(cli, tmp_path):
    rng = np.random.default_rng(7)
    ill, amount = rng.random(400) < 0.3, np.round(rng.lognormal(6, 1.0, 400), 2)
    scores = {model: rng.beta(2, 3, 400).round(3).tolist() for model in ("first", "second", "third")}
    path = write_csv(tmp_path / "loans.csv", {"fraud": ill.astype(int).tolist(), "amount": amount.tolist(), **scores})
    asked = ["evaluate", path, "--label", "fraud", *AMOUNTS]
    notes = {}  # metrics by model and note
    for row in json.loads(cli(*asked, "--json").out)["money"]:
        notes.setdefault((row["model"], row["note"]), []).append(row["metric"])
    shown = " ".join(cli(*asked).out.split())
    said = [f"{model}, {join(about)}: {note}." for (model, note), about in notes.items() if note]
    assert len({each.partition(",")[0] for each in said}) == 3
    assert [shown.count(each) for each in said] == [1] * len(said)
    assert shown.count("rows decide:") == sum("rows decide:" in each for each in said)
    assert cli(*asked, "--report", "page.html").code == 0
    page = (tmp_path / "work" / "page.html").read_text("utf-8")
    assert [page.count(f"<p>Note: {each}</p>") for each in said] == [1] * len(said)


def test_amounts_that_are_gains_have_cost_and_gain(cli, tmp_path):
    fraud = (np.random.default_rng(0).random(N) < RISK).astype(int)
    lost = np.where(np.arange(N) % 2, -40.0, 15.0)  # to act on every second row brings 40 whatever it is
    path = write_csv(tmp_path / "gains.csv", {"fraud": fraud.tolist(), "lost": lost.tolist(), "risk": RISK.tolist()})
    amounts = ["--false-positive-cost", "lost", "--false-negative-cost", "20", "--on-dominated", "set_aside"]
    asked = ["evaluate", path, "--label", "fraud", "--models", "risk", *amounts]
    found = json.loads(cli(*asked, "--json").out)["money"]
    act = (lost < 0) | (RISK * 20 >= (1 - RISK) * 15)
    cost = np.where(fraud == 1, np.where(act, 0.0, 20.0), np.where(act, lost, 0.0)).mean()
    values = {record["metric"]: record["value"] for record in found}
    assert values["cost"] == pytest.approx(1000 * cost, rel=1e-12)
    assert cost < 0
    assert values["savings"] is None
    shown = " ".join(cli(*asked).out.split())
    assert f"{1000 * cost:,.0f}" in shown
    gains = lost < 0.0  # rows on which everyone acts
    all_, none = (
        np.where(fraud == 1, missed, np.where(gains | acts, lost, 0.0)).mean()
        for missed, acts in ((0.0, True), (np.where(gains, 0.0, 20.0), False))
    )
    who, least = ("nobody", none) if none < all_ else ("everybody", all_)
    assert f"savings need a cost to save, but acting on {who} costs {least:.4g} a row" in shown


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([*AMOUNTS, "--calibration"], 2, "takes no amounts"),
        ([*AMOUNTS, "--per", "all"], 2, "--per must be a number > 0"),
        ([*AMOUNTS, "--per", "total", "--rule", "0.3"], 2, "--per with amounts by row needs --rule score"),
        ([*AMOUNTS, "--unit-cost", "2"], 2, "--unit-cost does not fit amounts"),
        ([*AMOUNTS[:3], "nosuch"], 3, "there is no such column"),
        (["--false-positive-cost", "10%", *AMOUNTS[2:]], 2, "or a finite amount, got '10%'; 10% is written 0.1"),
        (["--false-positive-cost", "-5", *AMOUNTS[2:]], 3, "acting never hurts in"),
    ],
)
def test_what_amounts_do_not_bear_is_said(cli, orders, options, code, message):
    shown = cli("evaluate", orders[0], "--label", "fraud", "--models", "risk", *options)
    assert shown.code == code
    assert message in " ".join(shown.err.split())


def test_models_are_compared_per_unit_of_money_at_stake(cli, orders):
    shown = cli("compare", orders[0], "--label", "fraud", "--models", "risk,other", *AMOUNTS, "--per", "total")
    assert shown.code == 2
    assert "--per does not fit amounts by row here" in " ".join(shown.err.split())


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--time", "years"], 2, "belong together: --event is missing"),
        ([*FOLLOW_UP], 2, "--horizon is missing"),
        ([*FOLLOW_UP, "--horizon", "2", "--label", "ended"], 2, "in place of --label"),
        ([*FOLLOW_UP, "--horizon", "2,1"], 2, "one or more times > 0, in order, got '2,1'"),
        ([*FOLLOW_UP, "--horizon", "1,2", "--report", "a.html"], 2, "write one for each"),
        (["--label", "ended", "--cause", "1"], 2, "--cause needs --time"),
        ([*FOLLOW_UP, "--horizon", "1.5", "--pos-label", "0"], 3, "(--pos-label) does not say how follow-up ended"),
        (["--label", "ended", "--unit", "EUR"], 2, "--unit needs amounts"),
        (["--label", "ended", "--on-dominated", "set_aside"], 2, "--on-dominated needs amounts"),
        (["--label", "ended", "--false-positive-cost", "3"], 2, "--false-negative-cost is missing"),
        ([], 2, "--label, or with --event"),
        ([*FOLLOW_UP, "--horizon", "99"], 3, "horizon 99 lies beyond the last time anyone was followed"),
        (["--time", "other", "--event", "ended", "--horizon", "1"], 3, "part of the outcome"),
        ([*FOLLOW_UP, "--horizon", "1", "--verified-by", "other"], 2, "--time and --verified-by cannot both be given"),
        ([*FOLLOW_UP, "--horizon", "1", "--cause", "7"], 3, "--cause must name events that occur, got 7"),
        ([*FOLLOW_UP, "--horizon", "1", "--lags", "200"], 3, '--lags must be "auto" or a whole number from 0 to 199'),
    ],
)
def test_what_does_not_fit_is_said(cli, followed, options, code, message):
    shown = cli("evaluate", followed, *ASKED, *options)
    assert shown.code == code
    assert message in " ".join(shown.err.split())


def test_event_codes_of_r_need_their_censored_one(cli, followed, tmp_path):
    columns = {"ended": (ENDED + 1).tolist(), "years": YEARS.tolist(), "risk": RISK.tolist(), "other": RISK.tolist()}
    coded = write_csv(tmp_path / "coded.csv", columns)
    asked = [*FOLLOW_UP, "--horizon", 2, *ASKED]
    for cause in ([], ["--cause", 2]):
        shown = cli("evaluate", coded, *asked, *cause)
        assert shown.code == 3
        assert "no code 0 among the event codes 1, 2; if one of them means censored" in " ".join(shown.err.split())
        assert "--censored 1" in " ".join(shown.err.split())
    found, wanted = (
        json.loads(cli("evaluate", *each, *asked, "--json").out)["data"]["outcome"]
        for each in ([coded, "--censored", 1], [followed])
    )
    assert found == wanted


def test_labels_of_events_and_unseen_labels_ask_for_options(cli, tmp_path):
    columns = {"years": YEARS.tolist(), "risk": RISK.tolist(), "other": RISK.tolist()}
    words = np.where(ENDED == 1, "relapse", "left").tolist()
    path = write_csv(tmp_path / "words.csv", {"ended": words, **columns})
    asked = [path, *FOLLOW_UP, "--horizon", 2, *ASKED]
    said = " ".join(cli("evaluate", *asked).err.split())
    assert "--event holds labels ('left', 'relapse'): pass --censored and --cause" in said
    said = " ".join(cli("evaluate", *asked, "--censored", "lost", "--cause", "relapse").err.split())
    assert "--censored must be the label of censored rows" in said
    assert "pass whole codes and --censored 0" in said
    looked = ["" if k % 3 else word for k, word in enumerate(words)]
    path = write_csv(tmp_path / "looked.csv", {"ended": looked, "ward": (np.arange(N) % 4).tolist(), **columns})
    said = " ".join(cli("evaluate", path, "--label", "ended", "--verified-by", "ward", *ASKED).err.split())
    assert "--label holds 'left', 'relapse': pass --pos-label to say which label is positive" in said


def test_a_fixed_rule_with_amounts_is_said_to_be_none_on_the_score(cli, orders, folder):
    path, fraud, amount = orders
    shown = cli(
        "evaluate", path, "--label", "fraud", "--models", "risk", *AMOUNTS[:4], "--rule", "0.3", "--report", "p.html"
    )
    assert shown.code == 0, shown.err
    missed, alarm = RISK * amount, (1 - RISK) * 15
    act = missed >= 0.3 * (missed + alarm)
    assert (act != (RISK >= 0.3)).sum() > 10
    lost, stake = np.where(fraud == 1, ~act * amount, act * 15), np.where(fraud == 1, amount, 15)
    said = " ".join(shown.out.split())
    assert f"risk costs {1000 * lost.sum() / stake.sum():.0f} per 1,000 units at stake" in said
    rule = "Treating where the expected cost of a miss is 30% or more of that of both mistakes"
    assert rule in said
    page = (folder / "p.html").read_text("utf-8")
    assert rule in page
    assert "p b / (p b + (1 - p) a) reached 0.3, whatever the threshold" in page
    assert "when its score reached" not in page


def test_horizon_in_another_unit_is_asked_about(cli, tmp_path):
    days = 365 * (YEARS + 1)
    columns = {"ended": ENDED.tolist(), "days": days.tolist(), "risk": RISK.tolist(), "other": RISK.tolist()}
    path = write_csv(tmp_path / "days.csv", columns)
    asked = ["--time", "days", "--event", "ended", *ASKED]
    for horizon in ("2", "2,800"):
        shown = cli("evaluate", path, *asked, "--horizon", horizon)
        assert shown.code == 3
        ends = f"Times run from {days.min():.3g} to {days.max():.3g} and the horizon is 2: are they in one unit"
        assert ends in " ".join(shown.err.split())
    shown = cli("evaluate", path, *asked, "--horizon", "800", "--censored", 7)
    assert shown.code == 3
    assert "event code of censored rows, one of 0, 1 (or 0 where nobody is), got 7" in " ".join(shown.err.split())


def test_rows_are_decided_by_their_amounts(cli, orders, folder):
    path, _, amount = orders
    shown = cli("decide", path, "--models", "risk", *AMOUNTS, "-o", "decided.csv")
    assert shown.code == 0, shown.err
    header, *lines = (folder / "decided.csv").read_text().splitlines()
    found = np.array([line.split(",") for line in lines], dtype=float)
    assert header.endswith("decision,decision_threshold")
    assert np.array_equal(found[:, -2] == 1, RISK * amount >= (1 - RISK) * 15)
    assert np.allclose(found[:, -1], 15 / (15 + amount), rtol=1e-12)
    asked = json.loads(cli("decide", path, "--models", "risk", *AMOUNTS, "--json").out)["columns"][0]
    costs = np.minimum(RISK * amount, (1 - RISK) * 15).sum()
    assert asked["expected_cost"] == pytest.approx(costs, rel=1e-12)
    in_euros = ["decide", path, "--models", "risk", *AMOUNTS, "--unit", "EUR"]
    assert f"Expected cost {costs:,.6g} EUR" in " ".join(cli(*in_euros).out.split())
    assert json.loads(cli(*in_euros, "--json").out)["columns"][0]["unit"] == "EUR"
    assert "does not fit amounts" in cli("decide", path, "--models", "risk", *AMOUNTS, "--measure", "f1").err
    assert cli("decide", path, "--models", "risk", *AMOUNTS[:3], "nosuch").code == 3


def test_a_check_is_of_one_time(cli, followed):
    shown = cli("check", followed, *FOLLOW_UP, "--horizon", "1,2", *ASKED)
    assert (shown.code, "--horizon must be one time to be checked" in shown.err) == (2, True)


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("command", ["evaluate", "decide"])
def test_errors_about_amounts_name_the_row_of_the_file(cli, folder, command, form):
    polars = pytest.importorskip("polars")
    lost = [1.0, 1.0, 1.0, 1.0, -3.0, 1.0]  # of the fifth row, the third of those that are complete
    frame = polars.DataFrame({"y": [0, 1] * 3, "p": [None, None, 0.2, 0.7, 0.4, 0.6], "lost": lost})
    write = {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}
    write[form](folder / f"rows.{form}")
    asked = ["--models", "p", "--false-positive-cost", "lost", "--false-negative-cost", "2", "--on-missing", "drop"]
    label = ["--label", "y"] if command == "evaluate" else ["-o", f"out.{form}"]
    found = cli(command, f"rows.{form}", *asked, *label)
    assert (found.code, "never helps in 0, the first in row 5 (" in found.err) == (3, True), found.err
