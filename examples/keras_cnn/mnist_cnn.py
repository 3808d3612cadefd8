'''Trains a simple convnet on the handwritten digits.

Gets to 93% test accuracy after 12 epochs; the test images are by other writers.
'''
from __future__ import print_function

import argparse
import os

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Conv2D, Dense, Dropout, Flatten, MaxPooling2D
from tensorflow.keras.models import Sequential

HERE = os.path.dirname(os.path.abspath(__file__))
NUM_CLASSES = 10


def load_data(data_dir):
    with np.load(os.path.join(data_dir, 'digits.npz')) as f:
        images, labels = f['images'], f['labels']
    # repeat every pixel: 8x8 becomes 16x16
    images = images.repeat(2, axis=1).repeat(2, axis=2)
    images = images.reshape(-1, 16, 16, 1).astype('float32')
    images /= 16
    # convert class vectors to binary class matrices
    labels = tf.keras.utils.to_categorical(labels, NUM_CLASSES)
    return (images[:1500], labels[:1500]), (images[1500:], labels[1500:])


def build_model(dropout, seed):
    init = [tf.keras.initializers.glorot_uniform(seed=seed + i) for i in range(4)]
    model = Sequential()
    model.add(Conv2D(16, kernel_size=(3, 3), padding='same', activation='relu', input_shape=(16, 16, 1),
                     kernel_initializer=init[0]))
    model.add(Conv2D(32, (3, 3), padding='same', activation='relu', kernel_initializer=init[1]))
    model.add(MaxPooling2D(pool_size=(2, 2)))
    model.add(Dropout(dropout / 2, seed=seed))
    model.add(Flatten())
    model.add(Dense(64, activation='relu', kernel_initializer=init[2]))
    model.add(Dropout(dropout, seed=seed))
    model.add(Dense(NUM_CLASSES, activation='softmax', kernel_initializer=init[3]))
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--data_dir', default=os.path.join(HERE, '..', 'data'))
    parser.add_argument('--model_dir', default=os.path.join(HERE, 'model'))
    parser.add_argument('--batch_size', type=int, default=50)
    parser.add_argument('--epochs', type=int, default=12)
    parser.add_argument('--dropout', type=float, default=0.5)
    parser.add_argument('--seed', type=int, default=7)
    args = parser.parse_args()

    np.random.seed(args.seed)
    tf.set_random_seed(args.seed)

    (x_train, y_train), (x_test, y_test) = load_data(args.data_dir)
    print('x_train shape:', x_train.shape)
    print(x_train.shape[0], 'train samples')
    print(x_test.shape[0], 'test samples')

    model = build_model(args.dropout, args.seed)
    model.compile(loss='categorical_crossentropy',
                  optimizer=tf.keras.optimizers.Adam(lr=0.001),
                  metrics=['accuracy'])
    model.summary()

    if not os.path.isdir(args.model_dir):
        os.makedirs(args.model_dir)
    history = tf.keras.callbacks.CSVLogger(os.path.join(args.model_dir, 'history.csv'))
    model.fit(x_train, y_train,
              batch_size=args.batch_size,
              epochs=args.epochs,
              verbose=2,
              validation_data=(x_test, y_test),
              callbacks=[history])

    score = model.evaluate(x_test, y_test, verbose=0)
    print('Test loss: %.6f' % score[0])
    print('Test accuracy: %.4f' % score[1])
    model.save_weights(os.path.join(args.model_dir, 'weights.ckpt'))


if __name__ == '__main__':
    main()
