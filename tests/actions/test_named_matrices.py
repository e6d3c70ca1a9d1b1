"""Cost matrices belong to the names of classes and actions, whatever the order; the decisions are taken by hand."""

import warnings

import numpy as np
import pytest

from stakes.actions import decision_calibration_test, evaluate_actions
from stakes.correction import apply_loss_matrix, undo_loss_matrix
from stakes.metrics import cost_matrix_loss

pd = pytest.importorskip("pandas")
ORDER, ACTIONS = ["lo", "mid", "hi"], ["wait", "test", "treat"]
COSTS = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [8.0, 5.0, 0.0]])
RNG = np.random.default_rng(0)
KIND = RNG.choice(3, 300, p=[0.5, 0.3, 0.2])
PROB = RNG.dirichlet([1, 1, 1], 300) * 0.5 + 0.5 * np.eye(3)[KIND]
TEXT = np.array(ORDER)[KIND]
BY_HAND = COSTS[KIND, (PROB @ COSTS).argmin(axis=1)].mean()
MATRIX = pd.DataFrame(COSTS, index=ORDER, columns=ACTIONS)
FRAME = pd.DataFrame(PROB, columns=ORDER)
TURNS = [[0, 1, 2], [1, 2, 0], [2, 1, 0], [1, 0, 2]]


def costs_of(*data, **options):
    """Mean cost by every function that takes matrices."""
    single = {name: value for name, value in options.items() if name != "actions"}
    return [
        evaluate_actions(*data, **options).cost,
        decision_calibration_test(*data, **options).incurred,
        cost_matrix_loss(*data, **single),
    ]


@pytest.mark.parametrize("rows", TURNS)
@pytest.mark.parametrize("columns", TURNS[:2])
@pytest.mark.parametrize("given", ["frame", "array", "one-hot frame", "one-hot array"])
def test_rows_and_columns_of_a_matrix_are_found_by_name(rows, columns, given):
    y, prob, options = TEXT, FRAME, {}
    if given == "array":
        prob, options = PROB, {"labels": ORDER}
    elif given != "frame":
        y = pd.get_dummies(pd.Series(TEXT)) if given == "one-hot frame" else np.eye(3)[KIND]
    matrix = MATRIX.iloc[rows, columns]
    assert costs_of(y, prob, matrices=matrix, **options) == pytest.approx([BY_HAND] * 3)
    found = evaluate_actions(y, prob, matrices=matrix, **options).rows
    assert found.actions == tuple(matrix.columns)
    assert set(found.classes) == set(ORDER)
    named = evaluate_actions(y, prob, matrices=matrix, actions=ACTIONS, **options).rows
    assert named.actions == tuple(ACTIONS)
    assert dict(zip(named.classes, named.problem.mean_matrix.tolist(), strict=True)) == dict(
        zip(ORDER, COSTS.tolist(), strict=True)
    )


@pytest.mark.parametrize("rows", TURNS)
@pytest.mark.parametrize("given", [FRAME, FRAME[sorted(ORDER)], PROB[:, [2, 0, 1]]])
def test_columns_without_names_are_the_actions_of_the_classes_in_the_index_as_written(rows, given):
    matrix = pd.DataFrame(COSTS[rows][:, rows], index=np.array(ORDER)[rows])
    turn = [2, 0, 1]  # another order of both rows and columns, and that of the sorted classes
    other = pd.DataFrame(COSTS[turn][:, turn], index=np.array(ORDER)[turn])
    by_hand = {f"always {name}": cost for name, cost in zip(ORDER, COSTS[KIND].mean(axis=0), strict=True)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as that the matrix is transposed
        for matrices in (matrix, [matrix, matrix], [matrix, other]):
            found = evaluate_actions(TEXT, given, matrices=matrices)
            assert found.rows.actions == tuple(matrix.index)
            always = {name: cost for name, cost in found.selection.costs.items() if name.startswith("always")}
            assert always == pytest.approx(by_hand)
            assert found.cost == pytest.approx(BY_HAND)
            chosen = np.array(ORDER)[(PROB @ COSTS).argmin(axis=1)]
            for record in found.class_records("model"):
                of_class = record["class"] == TEXT
                assert record["taken"] == pytest.approx({a: (of_class & (chosen == a)).mean() for a in ORDER})
        calibration = decision_calibration_test(TEXT, given, matrices=matrix)
        assert calibration.incurred == pytest.approx(BY_HAND)
        named = evaluate_actions(TEXT, given, matrices=matrix, actions=ACTIONS)
        assert named.rows.actions == tuple(ACTIONS)
        mixed = evaluate_actions(
            TEXT, FRAME, matrices=[COSTS, matrix], labels=ORDER
        )  # an array is in the order of labels
        assert (mixed.rows.actions, mixed.cost) == (tuple(ORDER), pytest.approx(BY_HAND))
        wide = pd.DataFrame(np.hstack([COSTS, COSTS]), index=ORDER)
        assert evaluate_actions(TEXT, given, matrices=wide).rows.actions == tuple(range(6))


def test_matrices_of_a_list_are_each_found_by_name():
    dear = MATRIX * 2 + 1
    both = [MATRIX, dear.iloc[[2, 0, 1], [1, 2, 0]]]
    found = costs_of(TEXT, FRAME, matrices=both, matrix_weights=[0.5, 0.5])
    assert found == pytest.approx([(BY_HAND + 2 * BY_HAND + 1) / 2] * 3)
    ends = evaluate_actions(TEXT, FRAME, matrices=both, theta=1.0)
    assert ends.cost == pytest.approx(2 * BY_HAND + 1)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_texts_beside_rows_without_names_need_an_order(library):
    module = pytest.importorskip(library)
    frame = module.table if library == "pyarrow" else module.DataFrame
    prob = frame(dict(zip(ORDER, PROB.T, strict=True)))
    for given in (COSTS, COSTS.tolist(), pd.DataFrame(COSTS)):
        for named in (prob, PROB[:, [2, 0, 1]]):  # an array is in the order of the sorted texts
            with pytest.raises(ValueError, match=r"texts \['hi', 'lo', 'mid'\]: pass labels= in the order of the rows"):
                costs_of(TEXT, named, matrices=given)
        assert costs_of(TEXT, prob, matrices=given, labels=ORDER) == pytest.approx([BY_HAND] * 3)
    with pytest.raises(ValueError, match="pass labels= in the order of the rows"):
        evaluate_actions(TEXT, {"a": prob, "b": PROB[:, [2, 0, 1]]}, matrices=COSTS)


def test_an_order_that_is_known_needs_no_labels():
    turn = [2, 0, 1]  # sorted: hi, lo, mid
    assert costs_of(TEXT, FRAME[sorted(ORDER)], matrices=COSTS[turn][:, turn]) == pytest.approx([BY_HAND] * 3)
    for numbers in (KIND, KIND + 1, KIND * 10.0):
        assert costs_of(numbers, PROB, matrices=COSTS) == pytest.approx([BY_HAND] * 3)
    texts = np.array(["1", "2", "3"])[KIND]
    assert costs_of(texts, PROB, matrices=COSTS) == pytest.approx([BY_HAND] * 3)
    with pytest.raises(ValueError, match=r"texts \['1', '10', '2'\]: pass labels="):  # sorted, 2 comes last
        costs_of(np.array(["1", "2", "10"])[KIND], PROB, matrices=COSTS)
    dummies = pd.get_dummies(pd.Series(TEXT))
    assert costs_of(dummies[ORDER], FRAME, matrices=COSTS) == pytest.approx([BY_HAND] * 3)
    with pytest.raises(ValueError, match="pass labels= in the order of the rows"):
        costs_of(dummies, FRAME, matrices=COSTS)
    alike = 1.0 - np.eye(3)  # rows mean the same in any order
    wrong = (PROB.argmax(axis=1) != KIND).mean()
    assert costs_of(TEXT, FRAME, matrices=alike) == pytest.approx([wrong] * 3)
    with pytest.raises(ValueError, match="pass labels= in the order of the rows"):
        evaluate_actions(TEXT, FRAME, matrices=alike, actions=ACTIONS)


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        (
            MATRIX.rename({"hi": "high"}),
            {},
            r"the classes \['hi', 'lo', 'mid'\] in its index, got \['lo', 'mid', 'high'\]",
        ),
        (
            MATRIX.T,
            {"labels": ORDER},
            r"\['lo', 'mid', 'hi'\] in its index, got \['wait', .*transposed\? .*matrices\.T",
        ),
        (
            MATRIX,
            {"actions": ["a", "b", "c"]},
            r"actions \['a', 'b', 'c'\], got \['wait', 'test', 'treat'\]: rename them",
        ),
        ([MATRIX, MATRIX.iloc[:, :2]], {}, r"actions \['wait', 'test', 'treat'\], got \['wait', 'test'\]"),
    ],
)
def test_names_that_do_not_agree_are_refused(matrix, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate_actions(TEXT, FRAME, matrices=matrix, **options)


def test_a_matrix_that_only_counts_rows_beside_numbers_in_another_order_is_refused():
    message = r"matrices has the index \[0, 1, 2\].*labels are \[2, 1, 0\]: pass matrices.loc\[\[2, 1, 0\]\] if"
    turned = pd.DataFrame(COSTS[::-1], columns=ACTIONS)
    with pytest.raises(ValueError, match=message):
        costs_of(KIND, PROB[:, ::-1], matrices=turned, labels=[2, 1, 0])
    by_label = pd.DataFrame(COSTS, columns=ACTIONS).loc[[2, 1, 0]]
    for matrix in (by_label, turned.to_numpy()):
        found = costs_of(KIND, PROB[:, ::-1], matrices=matrix, labels=[2, 1, 0], actions=ACTIONS)
        assert found == pytest.approx([BY_HAND] * 3)


def test_a_named_matrix_that_is_transposed_is_named():
    square = pd.DataFrame(COSTS, index=ORDER, columns=ORDER)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate_actions(TEXT, FRAME, matrices=square).rows.actions == tuple(ORDER)
    dear = square.copy()
    dear.loc["hi", "hi"] = 9.0
    with pytest.warns(UserWarning, match="for class hi the action hi costs 9, the action mid 5"):
        evaluate_actions(TEXT, FRAME, matrices=dear)


def test_one_hot_columns_of_other_names_than_the_labels_are_refused():
    dummies = pd.get_dummies(pd.Series(TEXT), prefix="risk")
    message = r"one-hot y_true .*labels, \['lo', 'mid', 'hi'\], got \['risk_hi', 'risk_lo', 'risk_mid'\]: rename"
    with pytest.raises(ValueError, match=message):
        costs_of(dummies, PROB, matrices=MATRIX, labels=ORDER)
    renamed = dummies.rename(columns=lambda name: name.removeprefix("risk_"))
    assert costs_of(renamed, PROB, matrices=MATRIX, labels=ORDER) == pytest.approx([BY_HAND] * 3)


def test_weights_of_a_loss_stand_in_the_order_of_the_scores():
    beta = pd.DataFrame([[2.0, 0.5, 1.0], [1.5, 3.0, 0.25], [1.0, 1.0, 4.0]], index=ORDER, columns=ORDER)
    scores = apply_loss_matrix(FRAME, beta)
    assert scores == pytest.approx(apply_loss_matrix(PROB, beta.to_numpy()))
    assert undo_loss_matrix(pd.DataFrame(scores, columns=ORDER), beta) == pytest.approx(PROB)
    turned = beta.iloc[[2, 0, 1], [2, 0, 1]]
    for mixed, prob in ((beta.iloc[[2, 0, 1]], PROB), (beta.iloc[:, [2, 0, 1]], PROB), (turned, FRAME)):
        for function in (apply_loss_matrix, undo_loss_matrix):
            with pytest.raises(ValueError, match=r"beta .*one order, got \[.*'hi'.*\] and \[.*'hi'"):
                function(prob, mixed)


def test_a_cost_that_is_not_finite_is_found_by_the_name_of_its_class():
    matrix = pd.DataFrame([[np.nan, 1.0], [1.0, 0.0]], index=["sick", "healthy"])
    with pytest.raises(ValueError, match="got nan for class 'sick' and action 0 of matrix 0"):
        cost_matrix_loss(["healthy", "sick"], [[0.7, 0.3], [0.2, 0.8]], matrices=matrix, labels=["healthy", "sick"])


def test_an_unknown_text_is_shown_as_it_was_written():
    with pytest.raises(ValueError, match=r"only the labels \['healthy', 'sick'\], got 'ill' in row 1\."):
        cost_matrix_loss(["healthy", "ill"], np.eye(2), matrices=np.eye(2), labels=["healthy", "sick"])
