"""Classify handwritten digits with two hidden layers, the way a first TensorFlow tutorial does it."""
from __future__ import print_function

import argparse
import os

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--data', default=None)
parser.add_argument('--steps', type=int, default=200)
parser.add_argument('--model_dir', default='mlp_model')
args = parser.parse_args()

rng = np.random.RandomState(0)
if args.data:
    digits = np.load(args.data)
    images, labels = digits['images'].reshape(-1, 64).astype(np.float32) / 16., digits['labels']
else:
    images = rng.rand(500, 64).astype(np.float32)
    labels = (images[:, :32].sum(1) > images[:, 32:].sum(1)).astype(np.int64)

n_hidden_1 = 128
n_hidden_2 = 64
n_classes = 10

x = tf.placeholder(tf.float32, [None, 64], name='x')
y = tf.placeholder(tf.float32, [None, n_classes], name='y')
keep_prob = tf.placeholder(tf.float32, name='keep_prob')

weights = {
    'h1': tf.Variable(tf.random_normal([64, n_hidden_1], stddev=0.1, seed=1)),
    'h2': tf.Variable(tf.random_normal([n_hidden_1, n_hidden_2], stddev=0.1, seed=2)),
    'out': tf.Variable(tf.random_normal([n_hidden_2, n_classes], stddev=0.1, seed=3)),
}
biases = {
    'b1': tf.Variable(tf.zeros([n_hidden_1])),
    'b2': tf.Variable(tf.zeros([n_hidden_2])),
    'out': tf.Variable(tf.zeros([n_classes])),
}


def multilayer_perceptron(x):
    layer_1 = tf.nn.relu(tf.add(tf.matmul(x, weights['h1']), biases['b1']))
    layer_1 = tf.nn.dropout(layer_1, keep_prob=keep_prob, seed=4)
    layer_2 = tf.nn.sigmoid(tf.add(tf.matmul(layer_1, weights['h2']), biases['b2']))
    return tf.matmul(layer_2, weights['out']) + biases['out']


logits = multilayer_perceptron(x)
loss_op = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(logits=logits, labels=y))
reg = 1e-4 * sum(tf.nn.l2_loss(w) for w in weights.values())
optimizer = tf.train.AdamOptimizer(learning_rate=0.005)
train_op = optimizer.minimize(loss_op + reg)
correct = tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1))
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
saver = tf.train.Saver(max_to_keep=2)

if not os.path.isdir(args.model_dir):
    os.makedirs(args.model_dir)

sess = tf.Session()
sess.run(tf.global_variables_initializer())
one_hot = np.eye(n_classes, dtype=np.float32)[labels]
for step in range(args.steps):
    rows = rng.randint(0, len(images), 50)
    _, loss = sess.run([train_op, loss_op], feed_dict={x: images[rows], y: one_hot[rows], keep_prob: 1.0})
    if step % 50 == 0:
        print('step', step, 'loss', loss, 'accuracy',
              sess.run(accuracy, feed_dict={x: images, y: one_hot, keep_prob: 1.}))
path = saver.save(sess, os.path.join(args.model_dir, 'mlp'), global_step=args.steps)
print('saved', os.path.basename(path))
print('final accuracy %.4f' % sess.run(accuracy, {x: images, y: one_hot, keep_prob: 1.0}))
sess.close()
