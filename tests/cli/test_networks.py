"""Commands take networks from elsewhere: ONNX files, and JSON that export wrote."""

import json

import numpy as np
import pytest
from scipy import sparse

from command_line import stepnet
from graphs import INT64, Graph
from stepnet import Layer, Network, attack
from stepnet.errors import InvalidInputError
from stepnet.export import to_c, to_json, to_onnx, to_rules
from stepnet.model.foreign.given import given_model

ROWS = np.array([[0.25, 1.0], [-2.0, 0.5], [3.0, -0.75], [1.5, 0.125]])


def logits(graph):
    hidden = graph.add("Sign", graph.add("Gemm", "x", np.array([[1.0, 1.0, -1.0], [0.5, -1.0, 2.0]]), np.ones(3) / 4))
    return graph.add("MatMul", hidden, np.array([[1.0, 0.0], [-1.0, 2.0], [0.5, 1.0]]))


@pytest.fixture
def folder(tmp_path):
    text = "\n".join(["a,b", *(",".join(map(str, row)) for row in ROWS.tolist())])
    (tmp_path / "rows.csv").write_text(text + "\n")
    graph = Graph(["rows", 2])
    graph.save(tmp_path / "numbers.onnx", logits(graph))
    graph = Graph(["rows", 2])
    best = graph.add("ArgMax", logits(graph), axis=1, keepdims=0)
    graph.save(tmp_path / "labels.onnx", graph.add("Gather", np.array([7, 3]), best), INT64)
    (tmp_path / "net.json").write_text(to_json(Network.from_onnx(tmp_path / "numbers.onnx", output="argmax")))
    return tmp_path


def test_predictions_are_the_answers_of_the_file(folder):
    network = Network.from_onnx(folder / "numbers.onnx")
    done = stepnet("predict", "numbers.onnx", "rows.csv", "--json", cwd=folder)
    assert json.loads(done.stdout)["predictions"] == network.predict(ROWS).tolist()
    codes = network.predict(ROWS).argmax(axis=1)
    done = stepnet("predict", "labels.onnx", "rows.csv", "--json", cwd=folder)
    assert json.loads(done.stdout)["predictions"] == np.array([7, 3])[codes].tolist()
    (folder / "named.csv").write_text((folder / "rows.csv").read_text().replace("a,b", "x0,x1"))
    done = stepnet("predict", "net.json", "named.csv", "--json", cwd=folder)
    assert json.loads(done.stdout)["predictions"] == codes.tolist(), done.stderr


@pytest.mark.parametrize("name", ["numbers.onnx", "labels.onnx"])
def test_attacks_change_the_largest_output(name, folder):
    network = Network.from_onnx(folder / "numbers.onnx", output="argmax")
    done = stepnet("attack", name, "rows.csv", "--out", "moved.csv", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(json.loads(done.stdout)["radii"], attack(network, ROWS).radii)
    assert len((folder / "moved.csv").read_text().splitlines()) == 5


def test_true_classes_may_come_in_any_order(folder):
    labels = np.array([7, 3])[Network.from_onnx(folder / "labels.onnx").predict(ROWS)]
    lines = (folder / "rows.csv").read_text().splitlines()
    table = [lines[0] + ",y", *(f"{line},{label}" for line, label in zip(lines[1:], labels, strict=True))]
    (folder / "true.csv").write_text("\n".join(table) + "\n")
    done = stepnet("attack", "labels.onnx", "true.csv", "--target", "y", "--json", cwd=folder)
    assert min(json.loads(done.stdout)["radii"]) > 0, done.stderr


def test_networks_are_exported_and_read_again(folder):
    network = Network.from_onnx(folder / "numbers.onnx", output="argmax")
    for to, name in (("onnx", "again.onnx"), ("json", "again.json")):
        done = stepnet("export", "net.json", "--to", to, "--out", name, cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / "named.csv").write_text((folder / "rows.csv").read_text().replace("a,b", "x0,x1"))
        done = stepnet("predict", name, "named.csv", "--json", cwd=folder)
        assert json.loads(done.stdout)["predictions"] == network.predict(ROWS).tolist(), done.stderr
    assert Network.from_onnx(folder / "again.onnx") == network
    done = stepnet("export", "labels.onnx", "--to", "rules", "--out", "rules.txt", cwd=folder)
    assert "a network from elsewhere; nothing is certified about rows" in (folder / "rules.txt").read_text(), (
        done.stderr
    )


def test_damaged_networks_give_one_line(folder):
    content = json.loads((folder / "net.json").read_text())
    del content["layers"][0]["weights"]
    (folder / "damaged.json").write_text(json.dumps(content))
    for name, message in (
        ("damaged.json", "is damaged ('weights'); export it again"),
        ("rows.onnx", "is not an ONNX file"),
    ):
        (folder / "rows.onnx").write_text("a,b\n")
        done = stepnet("predict", name, "rows.csv", cwd=folder)
        assert done.returncode == 2
        assert message in done.messages
        assert done.messages.count("\n") == 1


def test_a_sparse_network_is_exported_as_json_without_full_arrays(folder):
    first = Layer(sparse.eye_array(3000).tocsr(), np.zeros(3000))
    network = Network((first, Layer(sparse.csr_array(np.eye(1, 3000)), [0.5])))
    text = to_json(network, columns="all")
    assert len(text) < 1_000_000
    (folder / "sparse.json").write_text(text)
    assert given_model(folder / "sparse.json").network_ == network


def test_layers_that_are_too_large_as_full_arrays_are_refused_by_other_files():
    wide = sparse.csr_array((np.ones(9000), (np.arange(9000), np.arange(9000))))
    network = Network((Layer(wide, np.zeros(9000)), Layer(sparse.csr_array(np.ones((1, 9000))), [0.5])))
    for write in (to_onnx, to_c, to_rules):
        with pytest.raises(InvalidInputError, match=r"9,000 weights among 9000 × 9000 entries, too many for .* JSON"):
            write(network)
