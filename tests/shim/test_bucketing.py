"""Batches by buckets from queues: what TensorFlow 1.15's documentation promises of them, on TensorFlow and on the device."""

from __future__ import annotations

import numpy as np
import pytest

LENGTHS = [3, 9, 4, 10, 2, 15, 5, 1, 7, 12, 4]
BOUNDARIES = [5, 10]


def read_all(fetches, session):
    import tensorflow as tf

    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=session, coord=coordinator)
    taken = []
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            taken.append(session.run(fetches))
    coordinator.request_stop()
    coordinator.join(threads)
    return taken


def examples(lengths=LENGTHS):
    """Once through the lengths: (length, that many ones, its place)."""
    import tensorflow as tf

    place = tf.train.range_input_producer(len(lengths), num_epochs=1, shuffle=False).dequeue()
    length = tf.gather(tf.constant(lengths), place)
    return length, tf.ones([length]), place


def session_of(on_device):
    import tensorflow as tf
    from npu_bridge.npu_init import npu_config_proto

    session = tf.Session(config=npu_config_proto() if on_device else tf.ConfigProto())
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    return session


@pytest.mark.parametrize("on_device", [False, True])
def test_every_example_comes_once_among_those_of_its_bucket(graph, on_device):
    import tensorflow as tf

    length, ones, place = examples()
    lengths, batch = tf.contrib.training.bucket_by_sequence_length(
        length, {"ones": ones, "place": place}, 2, BOUNDARIES, dynamic_pad=True, allow_smaller_final_batch=True
    )
    doubled = 2 * batch["ones"]
    with session_of(on_device) as session:
        taken = read_all([lengths, doubled, batch["place"]], session)
    assert sorted(int(place) for _, _, places in taken for place in places) == list(range(len(LENGTHS)))
    for found, padded, places in taken:
        assert [LENGTHS[place] for place in places] == list(found)
        assert len({int(np.searchsorted(BOUNDARIES, number, side="right")) for number in found}) == 1
        np.testing.assert_array_equal(padded, 2.0 * (np.arange(found.max()) < found[:, None]))


def test_batches_are_full_and_sizes_can_differ_by_bucket(graph):
    import tensorflow as tf

    length, _, place = examples([1, 1, 1, 9, 9, 9, 9, 9])
    number, (places, lengths) = tf.contrib.training.bucket(
        [place, length], tf.cast(length > 5, tf.int32), [2, 3], 2, bucket_capacities=[4, 6]
    )
    assert places.shape.as_list() == [None] and number.shape.rank == 0
    with session_of(False) as session:
        taken = read_all([number, places, lengths], session)
    assert sorted((int(n), sorted(p), set(q)) for n, p, q in taken) == [(0, [0, 1], {1}), (1, [3, 4, 5], {9})]


def test_what_is_not_kept_is_in_no_batch(graph):
    import tensorflow as tf

    length, _, place = examples()
    lengths, _ = tf.contrib.training.bucket_by_sequence_length(
        length, [place], 3, BOUNDARIES, allow_smaller_final_batch=True, keep_input=length < 12, num_threads=2
    )
    with session_of(False) as session:
        taken = read_all(lengths, session)
    assert sorted(np.concatenate(taken)) == sorted(number for number in LENGTHS if number < 12)


@pytest.mark.parametrize(
    ("boundaries", "error"), [(5, TypeError), ([], ValueError), ([5, 5], ValueError), ([5, 4], ValueError), ([1.5], TypeError)]
)
def test_boundaries_that_are_none_are_refused(graph, boundaries, error):
    import tensorflow as tf

    with pytest.raises(error):
        tf.contrib.training.bucket_by_sequence_length(tf.constant(3), [tf.constant(1)], 2, boundaries)


def test_lists_of_another_length_than_the_buckets_are_refused(graph):
    import tensorflow as tf

    with pytest.raises(ValueError, match="2 buckets"):
        tf.contrib.training.bucket([tf.constant(1)], tf.constant(0), [1, 2, 3], 2)
    sparse = tf.SparseTensor([[0]], [1], [3])
    with pytest.raises(TypeError, match="sparse"):
        tf.contrib.training.bucket([sparse], tf.constant(0), 1, 2)
