"""Own data on the command line: text and missing cells, options from a file, answers for machines."""

import json

import pytest

from command_line import stepnet, typed
from stepnet import load

ROWS = "age,color,ill\n31,red,no\n,blue,yes\n45,red,yes\n22,green,no\n61,,yes\n"


@pytest.fixture
def people(tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    return tmp_path


FIT = ("fit", "people.csv", "--target", "ill", "--hidden", "2")


def test_choices_travel_with_the_model(people):
    result = stepnet(*FIT, "--encode", "one_hot", "--impute", "median", cwd=people)
    assert result.returncode == 0, result.stderr
    model = load(people / "model.json")
    assert model.feature_names_in_.tolist() == ["age", "color=blue", "color=green", "color=red"]
    assert model.columns_.columns[0].fill == 38
    (people / "new.csv").write_text("color,age\ngreen,22\n,61\nblue,?\n")
    result = stepnet("predict", "model.json", "new.csv", cwd=people)
    assert result.stdout.split()[1:] == ["no", "yes", "yes"]
    assert stepnet("verify", "model.json", "people.csv", "--target", "ill", cwd=people).returncode == 0
    (people / "odd.csv").write_text("color,age\npurple,22\n")
    result = stepnet("predict", "model.json", "odd.csv", "--out", "p.csv", cwd=people)
    assert (result.returncode, "'purple' did not occur" in result.stderr) == (2, True)
    assert not (people / "p.csv").exists()
    result = stepnet("attack", "model.json", "people.csv", cwd=people)
    assert result.returncode == 0, result.stderr


def test_without_a_choice_nothing_is_guessed(people):
    result = stepnet(*FIT, cwd=people)
    assert (result.returncode, "--impute" in result.stderr) == (2, True)
    result = stepnet(*FIT, "--impute", "mean", cwd=people)
    assert (result.returncode, "--encode" in result.stderr) == (2, True)
    assert not (people / "model.json").exists()


def test_encoded_names_that_are_taken(people):
    (people / "t.csv").write_text("a,a=x,y\nx,1,0\nz,2,1\n")
    result = stepnet("fit", "t.csv", "--target", "y", "--encode", "one_hot", cwd=people)
    assert (result.returncode, "rename a column" in result.stderr) == (2, True)


def test_options_from_a_file_have_the_same_names(people):
    (people / "c.toml").write_text(
        'target = "ill"\nencode = "codes"\n[fit]\n'
        'hidden = [2, 2]\nmethod = "prove"\nimpute = 0\ntime-limit = 9\n[predict]\njson = true\n'
    )
    result = stepnet("fit", "people.csv", "--config", "c.toml", cwd=people)
    assert result.returncode == 0, result.stderr
    assert load(people / "model.json").hidden == (2, 2)
    result = stepnet("fit", "people.csv", "--config", "c.toml", "--hidden", "3", cwd=people)
    assert load(people / "model.json").hidden == (3,)  # the command line takes precedence
    result = stepnet("predict", "model.json", "people.csv", "--config", "c.toml", cwd=people)
    assert json.loads(result.stdout)["predictions"] == ["no", "yes", "yes", "no", "yes"]
    (people / "all.toml").write_text('[fit]\ndata = "people.csv"\ntarget = "ill"\ndrop = ["age", "color"]\n')
    assert "no column beside" in stepnet("fit", "--config", "all.toml", cwd=people).stderr


@pytest.mark.slow
def test_many_numbers_as_classes_get_one_line_on_standard_error(tmp_path):
    lines = [f"{number},{number % 25}" for number in range(100)]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *lines]) + "\n")
    options = ("--target", "y", "--hidden", "1", "--output", "one_hot")
    result = typed("fit", "t.csv", *options, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    (warning,) = (line for line in result.stderr.splitlines() if line.startswith("stepnet: "))
    assert warning.startswith("stepnet: y has 25 different numbers")
    assert "--task regression" in warning
    assert result.stderr.index(warning) < result.stderr.index("loss")  # before the work begins
    result = stepnet("fit", "t.csv", *options[:4], "--task", "regression", cwd=tmp_path)
    assert "different numbers" not in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hiden = 3", "Did you mean 'hidden'?"),
        ("[fit]\nxyzzy = 3", "the command fit has no option 'xyzzy'"),
        ("fit = 3", "must be a table"),
        ("hidden = {a = 1}", "hidden must be text"),
        ("config = 'x'", "no option 'config'"),
        ("a = ", "is not TOML"),
        ("time_limit = 'soon'", "--time-limit"),
    ],
)
def test_a_bad_file_is_named(people, text, message):
    (people / "c.toml").write_text(text)
    result = stepnet(*FIT, "--config", "c.toml", cwd=people)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_missing_file_is_named(people):
    assert "cannot read --config" in stepnet(*FIT, "--config", "none.toml", cwd=people).stderr


def test_answers_for_machines(people):
    options = ("--encode", "one_hot", "--impute", "median", "--json")
    fit = json.loads(stepnet(*FIT, *options, cwd=people).stdout)
    assert fit["certificate"]["status"] == "OPTIMAL"
    assert fit["model"] == "model.json"
    verify = json.loads(stepnet("verify", "model.json", "people.csv", "--target", "ill", "--json", cwd=people).stdout)
    assert verify["holds"] is True
    assert len(verify["checks"]) == 3
    attack = json.loads(stepnet("attack", "model.json", "people.csv", "--radius", "1", "--json", cwd=people).stdout)
    assert attack["shares"][0]["radius"] == 1
    assert len(attack["radii"]) == 5
    proof = ("prove", "people.csv", "--target", "ill", "--save", "proof")
    prove = json.loads(stepnet(*proof, *options, cwd=people).stdout)
    assert prove["proof"] == "proof"
    assert json.loads(stepnet("verify", "proof", "--json", cwd=people).stdout)["holds"] is True
    widths = json.loads(stepnet("widths", "people.csv", "--target", "ill", *options, cwd=people).stdout)
    assert widths["smallest"] == 1
    assert json.loads(stepnet("solvers", "--json", cwd=people).stdout)["solvers"]["highs"]["version"]


def test_integer_weights_and_the_version(people):
    result = stepnet(*FIT, "--drop", "color", "--impute", "0", "--weights", "3", cwd=people)
    assert result.returncode == 0, result.stderr
    assert load(people / "model.json").weights.largest == 3
    assert stepnet("--version", cwd=people).stdout.startswith("stepnet 0.")
    assert "Exit codes: 0 done" in " ".join(stepnet("--help", cwd=people).stdout.split())


def test_classes_with_commas_are_quoted(tmp_path):
    (tmp_path / "t.csv").write_text('x,y\n1,"a, b"\n2,c\n')
    stepnet("fit", "t.csv", "--target", "y", "--hidden", "1", cwd=tmp_path)
    result = stepnet("predict", "model.json", "t.csv", cwd=tmp_path)
    assert result.stdout == 'prediction\n"a, b"\nc\n'


def test_codes_of_an_autoencoder(tmp_path):
    from stepnet import StepAutoencoder, save

    (tmp_path / "t.csv").write_text("a,b\n0,0\n1,1\n0,1\n")
    save(StepAutoencoder(1, random_state=0).fit([[0, 0], [1, 1], [0, 1]]), tmp_path / "m.json")
    lines = stepnet("predict", "m.json", "t.csv", cwd=tmp_path).stdout.split()
    assert lines[0] == "code"
    assert set(lines[1:]) == {"0", "1"}
    assert stepnet("verify", "m.json", "t.csv", cwd=tmp_path).returncode == 0
    assert stepnet("report", "m.json", "t.csv", "--to", "text", cwd=tmp_path).returncode == 0


def test_numbers_that_are_no_classes_are_named(tmp_path):
    lines = [f"{i},{i * 1.5},{i % 3},{i % 2 == 0}" for i in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["a,price,three,flag", *lines]) + "\n")
    for command in ("fit", "prove", "widths"):
        result = stepnet(command, "t.csv", "--target", "price", cwd=tmp_path)
        assert (result.returncode, "--task regression" in result.stderr) == (2, True)
    for command in ("prove", "widths"):
        result = stepnet(command, "t.csv", "--target", "three", cwd=tmp_path)
        assert (result.returncode, f"{command} is for two classes, got 3" in result.stderr) == (2, True)
    result = stepnet("fit", "t.csv", "--target", "three", "--hidden", "1", "--time-limit", "5", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    result = stepnet("verify", "model.json", "t.csv", "--target", "flag", cwd=tmp_path)
    assert (result.returncode, "'True', which is not one of the classes [0, 1, 2]" in result.stderr) == (2, True)


def test_booleans_are_the_same_in_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": [True, False, True], "y": [True, False, True]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for one, other in (("t.csv", "t.parquet"), ("t.parquet", "t.csv")):
        assert stepnet("fit", one, "--target", "y", "--hidden", "1", cwd=tmp_path).returncode == 0
        assert stepnet("verify", "model.json", other, "--target", "y", cwd=tmp_path).returncode == 0
        assert stepnet("predict", "model.json", other, cwd=tmp_path).stdout.split()[1:] == ["True", "False", "True"]


def test_features_are_written_as_programs_read_them(people):
    stepnet(*FIT, "--encode", "one_hot", "--impute", "median", cwd=people)
    stepnet("predict", "model.json", "people.csv", "--features", "rows.csv", "--out", "p.csv", cwd=people)
    lines = (people / "rows.csv").read_text().splitlines()
    assert lines[0] == "age,color=blue,color=green,color=red"
    assert lines[2] == "38.0,1.0,0.0,0.0"
    text = stepnet("report", "model.json", "people.csv", "--target", "ill", "--to", "text", cwd=people).stdout
    assert "new.csv needs the 2 columns age, color." in " ".join(text.split())
    assert "perturbed like numbers" in stepnet("attack", "model.json", "people.csv", cwd=people).stdout


def test_what_is_no_model_or_no_table_is_named(people):
    stepnet(*FIT, "--drop", "color", "--impute", "0", cwd=people)
    (people / "empty").mkdir()
    assert "a folder or a pattern" in stepnet("predict", "model.json", "empty", "--out", "p.csv", cwd=people).stderr
    (people / "latin.csv").write_bytes("größe,y\n1,0\n".encode("latin-1"))
    assert "save it as UTF-8" in stepnet("predict", "model.json", "latin.csv", cwd=people).stderr
