"""``tf.contrib.layers``: embeddings; layers, initializers, regularizers and optimize_loss are ``tf_slim``'s."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import tensorflow as tf
from tf_slim.layers import summaries
from tf_slim.layers.layers import GDN, dense_to_sparse

with suppress(KeyError):  # registered by TF 1.15's module, and not by tf_slim's copy of it
    tf.RegisterGradient("GDNLowerBound")(GDN._lower_bound_grad)

__all__ = ["bow_encoder", "embed_sequence", "embedding_lookup_unique", "safe_embedding_lookup_sparse", "summaries"]


def embedding_lookup_unique(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None) -> tf.Tensor:
    """``tf.nn.embedding_lookup`` that fetches a row once, however often its id occurs."""
    with tf.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = tf.convert_to_tensor(ids)
        unique, positions = tf.unique(tf.reshape(ids, [-1]))
        rows = tf.gather(tf.nn.embedding_lookup(params, unique, partition_strategy=partition_strategy), positions)
        result = tf.reshape(rows, tf.concat([tf.shape(ids), tf.shape(rows)[1:]], 0))
        result.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return result


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> tf.Tensor:
    """Combined embeddings of the ids of each row; rows without a valid id get ``default_id``'s, or zeros."""
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights, combiner or "mean", default_id, name, partition_strategy, max_norm
    )


def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> tf.Tensor:
    """Embeddings of ids (batch, time) as (batch, time, embed_dim), with a variable ``embeddings``.

    Raises: ValueError when the variable is to be made and one of its extents is not given.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(f"give vocab_size and embed_dim, got {vocab_size} and {embed_dim}")
    with tf.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = [vocab_size, embed_dim] if vocab_size and embed_dim else None
        embeddings = tf.get_variable(
            "embeddings", shape=shape, initializer=initializer, regularizer=regularizer, trainable=trainable
        )  # fmt: skip
        return embedding_lookup_unique(embeddings, ids) if unique else tf.nn.embedding_lookup(embeddings, ids)


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> tf.Tensor:
    """The mean of the embeddings of a row's ids. Raises: TypeError when sparse_lookup does not fit the ids."""
    with tf.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = tf.get_variable(
            "embeddings", shape=[vocab_size, embed_dim], initializer=initializer, regularizer=regularizer, trainable=trainable
        )  # fmt: skip
        if sparse_lookup:
            ids = ids if isinstance(ids, tf.SparseTensor) else dense_to_sparse(ids)
            return tf.nn.embedding_lookup_sparse(embeddings, ids, None, combiner="mean")
        if isinstance(ids, tf.SparseTensor):
            raise TypeError("ids are a SparseTensor and sparse_lookup is False")
        return tf.reduce_mean(tf.nn.embedding_lookup(embeddings, ids), axis=1)
