"""A script is seen to train where an update on the device has changed a variable, nothing failed, and its steps are made."""

from __future__ import annotations

import textwrap
from pathlib import Path

from tf2npu.report.work.smoke_runs import is_seen, not_seen, seen

_HEAD = """
import os, sys
from npu_bridge.npu_init import *
import numpy as np
import tensorflow as tf
"""
_MODEL = """
w = tf.get_variable('w', [3, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0), name='loss')
step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
session = tf.Session(config=npu_config_proto())
session.run(tf.global_variables_initializer())
"""
_PLACEHOLDER = "x = tf.placeholder(tf.float32, [None, 3])\n"
_FED = "{x: np.ones([4, 3], np.float32)}"


def _is_seen(result) -> bool:
    return result.made is not None and is_seen(result.made["run"])


def test_a_script_that_feeds_placeholders_is_stopped_behind_its_steps(smoke):
    loop = f"for i in range(1000):\n    print('turn', i, session.run([step, loss], {_FED})[1])\nprint('beyond')\n"
    result = smoke(_HEAD + _PLACEHOLDER + _MODEL + loop, steps=5)
    assert _is_seen(result), result.last_words
    told = result.made["run"]["smoke"]
    assert (told["steps"], told["wanted"], told["made"], told["needs"]) == (5, 5, [], [])
    assert 0 <= float(told["last_loss"]) < float(told["first_loss"])
    assert "turn 3" in result.last_words and "beyond" not in result.last_words
    assert seen(result.made["run"]).startswith("Seen to train: train.py made 5 steps on its own data, loss ")


def test_a_script_that_ends_before_its_steps_is_seen_with_those_that_it_made(smoke):
    result = smoke(_HEAD + _PLACEHOLDER + _MODEL + f"for i in range(2):\n    session.run(step, {_FED})\n", steps=5)
    assert _is_seen(result) and result.state["steps"] == 2 and result.state["first_loss"] == ""


def test_records_are_made_by_the_parse_function(smoke):
    pipeline = """
        def parse(record):
            read = tf.parse_single_example(record, {
                'image': tf.FixedLenFeature([], tf.string), 'label': tf.FixedLenFeature([], tf.int64),
                'weights': tf.FixedLenFeature([2], tf.float32), 'words': tf.VarLenFeature(tf.int64)})
            image = tf.reshape(tf.decode_raw(read['image'], tf.uint8), [3])
            with tf.control_dependencies([tf.assert_equal(tf.size(read['weights']), 2)]):
                return tf.cast(image, tf.float32) / 255.0 + tf.cast(read['label'], tf.float32)

        files = ['/data/of/nobody/train-0.tfrecord', 'records/train-1.tfrecord']
        x = tf.data.TFRecordDataset(files).map(parse).repeat().batch(4).make_one_shot_iterator().get_next()
    """
    result = smoke(_HEAD + textwrap.dedent(pipeline) + _MODEL + "while True:\n    session.run(step)\n")
    assert _is_seen(result), result.last_words
    made = {one["path"]: one["content"] for one in result.state["made"]}
    told = "160 examples of 4 features"
    assert made == {"/data/of/nobody/train-0.tfrecord": told, "records/train-1.tfrecord": told}
    assert not Path("/data/of/nobody").exists()


def test_records_that_a_pattern_finds_get_their_features_when_they_are_known(smoke):
    pipeline = """
        import glob
        def parse(record):
            return tf.parse_single_example(record, {'numbers': tf.FixedLenFeature([3], tf.float32)})['numbers']

        files = glob.glob('data/train/words-*')
        x = tf.data.TFRecordDataset(files).map(parse).repeat().batch(4).make_one_shot_iterator().get_next()
    """
    result = smoke(_HEAD + textwrap.dedent(pipeline) + _MODEL + "while True:\n    session.run(step)\n")
    assert _is_seen(result), result.last_words
    assert [one["content"] for one in result.state["made"]] == ["512 examples of 1 features"]


def test_pictures_in_records_are_encoded_as_they_are_decoded(smoke):
    pipeline = """
        def parse(record):
            read = tf.parse_single_example(record, {'picture': tf.FixedLenFeature([], tf.string)})
            return tf.reduce_mean(tf.cast(tf.image.decode_jpeg(read['picture'], channels=3), tf.float32), [0, 1]) / 255.0

        queue = tf.train.string_input_producer(['pictures.tfrecords'])
        _, record = tf.TFRecordReader().read(queue)
        x = tf.train.batch([parse(record)], 4)
    """
    queues = "coordinator = tf.train.Coordinator()\ntf.train.start_queue_runners(session, coordinator)\n"
    result = smoke(_HEAD + textwrap.dedent(pipeline) + _MODEL + queues + "while True:\n    session.run(step)\n", steps=3)
    assert _is_seen(result), result.last_words


def test_lines_have_the_columns_that_are_decoded(smoke):
    pipeline = """
        def parse(line):
            numbers = tf.decode_csv(line, [[0.0], [0.0], [0], ['']], field_delim=';')
            return tf.stack([numbers[0], numbers[1], tf.cast(numbers[2], tf.float32)])

        x = tf.data.TextLineDataset('table.csv').map(parse).repeat().batch(8).make_initializable_iterator()
        start, x = x.initializer, x.get_next()
    """
    result = smoke(_HEAD + textwrap.dedent(pipeline) + _MODEL + "session.run(start)\nwhile True:\n    session.run(step)\n")
    assert _is_seen(result), result.last_words
    assert [(one["path"], one["content"]) for one in result.state["made"]] == [("table.csv", "3000 lines of 4 columns")]


def test_files_that_the_script_opens_are_made_and_nothing_of_the_users_is_written(smoke, tmp_path):
    users = tmp_path / "users"
    users.mkdir()
    (users / "model.txt").write_text("mine")
    text = f"""
        folder = {str(users)!r}
        open(os.path.join(folder, 'model.txt'), 'w').write('overwritten')
        os.remove(os.path.join(folder, 'model.txt'))
        os.makedirs(os.path.join(folder, 'logs', 'deep'))
        words = [line.split() for line in open('corpus/train.txt')]
        assert len(words) > 100 and all(words)
        writer = tf.summary.FileWriter(os.path.join(folder, 'events'))
    """
    end = f"saver = tf.train.Saver()\nsession.run(step, {_FED})\nsaver.save(session, os.path.join(folder, 'model', 'm'))\n"
    result = smoke(_HEAD + textwrap.dedent(text) + _PLACEHOLDER + _MODEL + end)
    assert _is_seen(result), result.last_words
    assert {path.name: path.read_text() for path in users.iterdir()} == {"model.txt": "mine"}


def test_a_file_of_which_only_the_script_knows_the_form_is_named(smoke):
    result = smoke(_HEAD + "import pickle\ndata = pickle.load(open('features.pkl', 'rb'))\n" + _PLACEHOLDER + _MODEL)
    assert not _is_seen(result)
    assert result.needs == ["the file features.pkl, which could not be made up"]
    assert "ended with exit code 1 after 0 of 5 steps" in not_seen(result.made["run"])


def test_a_required_argument_is_made_where_it_is_a_place_and_named_where_it_is_not(smoke):
    text = """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument('--data_dir', required=True)
        parser.add_argument('--mode', required=True, choices=['test', 'train'])
        {}
        given = parser.parse_args()
        assert given.mode == 'train' and os.path.isdir(given.data_dir)
    """
    loop = f"while True:\n    session.run(step, {_FED})\n"
    head = _HEAD + textwrap.dedent(text)
    result = smoke(head.format("") + _PLACEHOLDER + _MODEL + loop)
    assert _is_seen(result), result.last_words
    asked = head.format("parser.add_argument('--rate', type=float, required=True)")
    result = smoke(asked + _PLACEHOLDER + _MODEL + loop)
    assert not _is_seen(result) and result.needs == ["the argument --rate"]
    assert _is_seen(smoke(asked + _PLACEHOLDER + _MODEL + loop, "--rate", "0.1"))


def test_a_script_without_training_is_not_seen_to_train(smoke):
    result = smoke(_HEAD + _PLACEHOLDER + _MODEL + f"for i in range(20):\n    session.run(loss, {_FED})\n")
    assert result.code == 0 and not _is_seen(result)
    assert "ended without a training step on the device" in not_seen(result.made["run"])


def test_updates_that_change_nothing_are_no_training(smoke):
    text = _HEAD + _PLACEHOLDER + _MODEL.replace("0.05", "0.0") + f"for i in range(20):\n    session.run(step, {_FED})\n"
    result = smoke(text)
    assert result.code == 0 and result.state["without_change"] == 20 and not _is_seen(result)


def test_updates_on_the_host_are_no_training_on_the_device(smoke):
    model = _MODEL.replace("config=npu_config_proto()", "")
    text = _HEAD.replace("from npu_bridge.npu_init import *", "import npu_bridge") + _PLACEHOLDER + model
    result = smoke(text + f"for i in range(9):\n    session.run(step, {_FED})\n")
    assert not _is_seen(result) and not result.state["steps"]


def test_a_script_that_fails_at_its_third_step_is_not_seen_to_train(smoke):
    turns = f"for i in range(5):\n    session.run(step, {_FED})\n    if i == 2: raise ValueError('the third')\n"
    result = smoke(_HEAD + _PLACEHOLDER + _MODEL + turns)
    assert result.code == 1 and result.state["steps"] == 3 and not _is_seen(result)
    assert "ended with exit code 1 after 3 of 5 steps" in not_seen(result.made["run"])


def test_a_failing_step_that_the_script_passes_over_is_not_forgiven(smoke):
    model = _MODEL.replace("tf.matmul(x, w)", "tf.matmul(tf.reshape(x, [-1, 3]), w)")
    turns = """
for i in range(3):
    try:
        session.run(step, {x: np.ones([4, 2 if i == 2 else 3], np.float32)})
    except tf.errors.InvalidArgumentError:
        pass
"""
    result = smoke(_HEAD + _PLACEHOLDER.replace("[None, 3]", "None") + model + turns)
    assert result.code == 0 and result.state["steps"] == 2 and not _is_seen(result)
    assert "passed over an error" in not_seen(result.made["run"])


def test_an_error_that_ends_a_thread_is_not_forgiven(smoke):
    thread = "import threading\nworker = threading.Thread(target=lambda: 1 / 0)\nworker.start()\nworker.join()\n"
    result = smoke(_HEAD + _PLACEHOLDER + _MODEL + f"session.run(step, {_FED})\n" + thread)
    assert result.code == 0 and not _is_seen(result) and "ZeroDivisionError" in result.state["failure"]


def test_a_script_that_takes_too_long_is_cut(smoke):
    result = smoke(_HEAD + _PLACEHOLDER + _MODEL + f"session.run(step, {_FED})\nimport time\ntime.sleep(600)\n", seconds=20)
    assert result.is_cut and not _is_seen(result)
    assert "had made 1 of 5 steps when its time of" in not_seen(result.made["run"])


def test_a_script_that_waits_for_its_own_thread_behind_its_steps_is_ended_and_was_seen(smoke):
    text = """
        import threading
        worker = threading.Thread(target=time.sleep, args=(600,), daemon=True)
        worker.start()
        try:
            while True:
                session.run(step, FED)
        finally:
            worker.join()
    """
    result = smoke(_HEAD + "import time\n" + _PLACEHOLDER + _MODEL + textwrap.dedent(text).replace("FED", _FED), seconds=200)
    assert _is_seen(result), result.last_words
    assert not result.is_cut and result.seconds < 150


def test_a_table_that_the_script_parts_into_numbers_has_such_columns(smoke):
    text = """
        rows = [[float(one) for one in line.strip().split('\\t')[:3]] for line in open('ratings.dat')]
        more = np.loadtxt('more.txt')
        assert np.shape(rows)[1] == 3 and more.ndim == 2
    """
    loop = "while True:\n    session.run(step, {x: np.array(rows[:8], np.float32)})\n"
    result = smoke(_HEAD + textwrap.dedent(text) + _PLACEHOLDER + _MODEL + loop)
    assert _is_seen(result), result.last_words
    assert {one["path"]: one["content"] for one in result.state["made"]} == {
        "more.txt": "3000 lines of 10 columns", "ratings.dat": "3000 lines of 10 columns",
    }  # fmt: skip


def test_columns_are_learnt_from_the_error_of_an_attempt(smoke):
    text = """
        table = np.loadtxt('ratings.txt')
        rows = [[user, item, rating] for user, item, rating in table]
        for line in open('names.txt').readlines()[:20]:
            first, second = line.split('|')
    """
    loop = "while True:\n    session.run(step, {x: np.array(rows[:8], np.float32)})\n"
    result = smoke(_HEAD + textwrap.dedent(text) + _PLACEHOLDER + _MODEL + loop)
    assert _is_seen(result), result.last_words
    assert {one["path"]: one["content"] for one in result.state["made"]} == {
        "names.txt": "3000 lines of 2 columns", "ratings.txt": "3000 lines of 3 columns",
    }  # fmt: skip


def test_a_folder_of_classes_has_folders_of_images(smoke):
    text = """
        pictures = []
        for letter in sorted(os.listdir('letters')):
            if not letter.startswith('character'):
                continue
            for name in os.listdir(os.path.join('letters', letter)):
                if name.endswith('.png'):
                    pictures.append(tf.gfile.GFile(os.path.join('letters', letter, name), 'rb').read()[:4])
        assert len(pictures) > 20 and set(pictures) == {bytes([137]) + b'PNG'}
    """
    loop = f"while True:\n    session.run(step, {_FED})\n"
    result = smoke(_HEAD + textwrap.dedent(text) + _PLACEHOLDER + _MODEL + loop)
    assert _is_seen(result), result.last_words
    assert {"path": "letters/character00/*.png", "content": "24 times an image of 256 x 256"} in result.state["made"]


def test_weights_that_are_missing_are_the_initial_ones_and_said_to_be(smoke):
    text = f"tf.train.Saver().restore(session, 'pretrained/model.ckpt')\nwhile True:\n    session.run(step, {_FED})\n"
    model = _MODEL.replace("session.run(tf.global_variables_initializer())", "")
    result = smoke(_HEAD + _PLACEHOLDER + model + text)
    assert _is_seen(result), result.last_words
    told = [{"path": "pretrained/model.ckpt", "content": "the initial values of 1 variables, for weights"}]
    assert result.state["made"] == told


def test_arrays_have_the_names_and_the_width_that_are_asked_for(smoke):
    text = """
        with np.load('vectors.12d.npz') as data:
            vectors = data['embeddings']
        words, n_texts = [], 0
        for line in open('words.txt'):
            line = line.strip()
            if len(line) == 0:
                n_texts += 1
            else:
                words.append(line.split(' ')[0])
        assert vectors.shape[1] == 12 and n_texts > 10 and len(words) > 100
    """
    loop = f"while True:\n    session.run(step, {_FED})\n"
    result = smoke(_HEAD + textwrap.dedent(text) + _PLACEHOLDER + _MODEL + loop)
    assert _is_seen(result), result.last_words


def test_settings_that_are_missing_are_those_of_another_experiment(smoke, tmp_path):
    (tmp_path / "smoke" / "pristine" / "experiments" / "base").mkdir(parents=True)
    (tmp_path / "smoke" / "pristine" / "experiments" / "base" / "params.json").write_text('{"rate": 0.5}')
    text = """
        import json
        place = 'experiments/test/params.json'
        assert os.path.isfile(place), 'No json file found at ' + place
        assert json.load(open(place)) == {'rate': 0.5}
    """
    loop = f"while True:\n    session.run(step, {_FED})\n"
    result = smoke(_HEAD + textwrap.dedent(text) + _PLACEHOLDER + _MODEL + loop)
    assert _is_seen(result), result.last_words
    told = {"path": "experiments/test/params.json", "content": "a copy of experiments/base/params.json"}
    assert told in result.state["made"]


def test_a_script_that_finds_its_data_from_its_own_folder_runs_there(smoke, tmp_path):
    pristine = tmp_path / "smoke" / "pristine"
    (pristine / "code").mkdir(parents=True)
    (pristine / "data").mkdir()
    (pristine / "data" / "real.txt").write_text("7 8 9\n" * 4)
    loop = f"while True:\n    session.run(step, {_FED})\n"
    text = "rows = np.loadtxt('../data/real.txt')\nassert rows.max() == 9\n"
    (pristine / "code" / "train.py").write_text(_HEAD + text + _PLACEHOLDER + _MODEL + loop)
    result = smoke("", script="code/train.py")
    assert _is_seen(result), result.last_words
    assert result.state["made"] == []
