"""Predict whether two short sequences belong together: a Keras model with two inputs."""
import argparse

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers
from tensorflow.keras.models import Model


def make_data(n, seed):
    rng = np.random.RandomState(seed)
    left = rng.randint(1, 50, (n, 12))
    right = np.where(rng.rand(n, 1) < 0.5, left[:, ::-1], rng.randint(1, 50, (n, 12)))
    numbers = rng.randn(n, 3).astype('float32')
    together = (left[:, ::-1] == right).all(axis=1).astype('float32')
    return {'left': left, 'right': right, 'numbers': numbers}, together


def build_model(rate):
    left = layers.Input((12,), dtype='int32', name='left')
    right = layers.Input((12,), dtype='int32', name='right')
    numbers = layers.Input((3,), name='numbers')
    embed = layers.Embedding(50, 16, embeddings_initializer=tf.keras.initializers.RandomUniform(seed=1))
    pool = layers.Conv1D(24, 3, activation='relu', kernel_initializer=tf.keras.initializers.glorot_uniform(seed=2))

    def encode(t):
        return layers.GlobalMaxPooling1D()(pool(embed(t)))

    a, b = encode(left), encode(right)
    both = layers.concatenate([layers.multiply([a, b]), layers.subtract([a, b]), numbers])
    both = layers.Dense(32, activation='elu', kernel_initializer=tf.keras.initializers.glorot_uniform(seed=3))(both)
    both = layers.Dropout(rate, seed=4)(both)
    out = layers.Dense(1, activation='sigmoid', kernel_initializer=tf.keras.initializers.glorot_uniform(seed=5))(both)
    return Model(inputs=[left, right, numbers], outputs=out)


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--epochs', type=int, default=3)
    ap.add_argument('--dropout', type=float, default=0.2)
    ap.add_argument('--model_dir', default='.')
    opts = ap.parse_args()

    model = build_model(opts.dropout)
    model.compile(optimizer=tf.keras.optimizers.Adam(lr=0.01), loss='binary_crossentropy', metrics=['accuracy'])
    x_train, y_train = make_data(800, 0)
    x_test, y_test = make_data(200, 1)
    stop = tf.keras.callbacks.EarlyStopping(monitor='val_loss', patience=5)
    model.fit(x_train, y_train, batch_size=32, epochs=opts.epochs, validation_data=(x_test, y_test),
              callbacks=[stop], shuffle=False, verbose=2)
    print('test loss and accuracy: %.4f %.4f' % tuple(model.evaluate(x_test, y_test, verbose=0)))
    print('probabilities', model.predict({k: v[:3] for k, v in x_test.items()}).ravel())
