"""Trains a small AlexNet on the handwritten digits with a plain session loop.

    python finetune.py --num_epochs 10 --keep_prob 0.7
"""
from __future__ import print_function

import argparse
import os
from datetime import datetime

import numpy as np
import tensorflow as tf

from alexnet import AlexNet
from datagenerator import ImageDataGenerator

here = os.path.dirname(os.path.abspath(__file__))

parser = argparse.ArgumentParser(description='AlexNet on handwritten digits')
parser.add_argument('--data_dir', default=os.path.join(here, '..', 'data'), help='directory with digits.npz')
parser.add_argument('--model_dir', default=os.path.join(here, 'model'), help='checkpoints and summaries')
parser.add_argument('--num_epochs', type=int, default=10)
parser.add_argument('--steps', type=int, default=0, help='stop after that many steps (0: after all epochs)')
parser.add_argument('--batch_size', type=int, default=50)
parser.add_argument('--learning_rate', type=float, default=0.01)
parser.add_argument('--keep_prob', type=float, default=0.7, help='probability to keep a unit in dropout')
parser.add_argument('--display_step', type=int, default=5, help='how often to write the summaries')
parser.add_argument('--seed', type=int, default=12)
args = parser.parse_args()

# Network params
num_classes = 10
train_layers = ['conv1', 'conv2', 'conv3', 'conv4', 'fc5', 'fc6', 'fc7']

# Path for tf.summary.FileWriter and to store model checkpoints
filewriter_path = os.path.join(args.model_dir, 'tensorboard')
checkpoint_path = os.path.join(args.model_dir, 'checkpoints')
for path in (filewriter_path, checkpoint_path):
    if not os.path.isdir(path):
        os.makedirs(path)

tf.set_random_seed(args.seed)

# Place data loading and preprocessing on the cpu
with tf.device('/cpu:0'):
    tr_data = ImageDataGenerator(args.data_dir, mode='training', batch_size=args.batch_size,
                                 num_classes=num_classes, shuffle=True, seed=args.seed)
    val_data = ImageDataGenerator(args.data_dir, mode='inference', batch_size=99,
                                  num_classes=num_classes, shuffle=False)

    # create an reinitializable iterator given the dataset structure
    iterator = tf.data.Iterator.from_structure(tr_data.data.output_types, tr_data.data.output_shapes)
    next_batch = iterator.get_next()

# Ops for initializing the two different iterators
training_init_op = iterator.make_initializer(tr_data.data)
validation_init_op = iterator.make_initializer(val_data.data)

# TF placeholder for graph input and output
x = tf.placeholder(tf.float32, [None, 16, 16, 1])
y = tf.placeholder(tf.float32, [None, num_classes])
keep_prob = tf.placeholder(tf.float32)

with tf.device('/gpu:0'):
    # Initialize model
    model = AlexNet(x, keep_prob, num_classes, seed=args.seed)

    # Link variable to model output
    score = model.fc7

    # List of trainable variables of the layers we want to train
    var_list = [v for v in tf.trainable_variables() if v.name.split('/')[0] in train_layers]

    # Op for calculating the loss
    with tf.name_scope('cross_ent'):
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(logits=score, labels=y))

    # Train op
    with tf.name_scope('train'):
        # Create optimizer and get the gradients of all trainable variables
        optimizer = tf.train.MomentumOptimizer(args.learning_rate, momentum=0.9)
        gradients = optimizer.compute_gradients(loss, var_list)

        # Apply gradient descent to the trainable variables
        train_op = optimizer.apply_gradients(grads_and_vars=gradients)

    # Evaluation op: Accuracy of the model
    with tf.name_scope('accuracy'):
        correct_pred = tf.equal(tf.argmax(score, 1), tf.argmax(y, 1))
        accuracy = tf.reduce_mean(tf.cast(correct_pred, tf.float32))

# Add gradients and variables to summary
for gradient, var in gradients:
    tf.summary.histogram(var.op.name + '/gradient', gradient)
for var in var_list:
    tf.summary.histogram(var.op.name, var)
tf.summary.scalar('cross_entropy', loss)
tf.summary.scalar('accuracy', accuracy)

# Merge all summaries together
merged_summary = tf.summary.merge_all()

# Initialize the FileWriter
writer = tf.summary.FileWriter(filewriter_path)

# Initialize an saver for store model checkpoints
saver = tf.train.Saver()

# Get the number of training/validation steps per epoch
train_batches_per_epoch = int(np.floor(tr_data.data_size/args.batch_size))
val_batches_per_epoch = int(np.floor(val_data.data_size / 99))

config = tf.ConfigProto(allow_soft_placement=True)
config.gpu_options.allow_growth = True

# Start Tensorflow session
with tf.Session(config=config) as sess:

    # Initialize all variables
    sess.run(tf.global_variables_initializer())

    # Add the model graph to TensorBoard
    writer.add_graph(sess.graph)

    print("{} Start training...".format(datetime.now()))
    global_step = 0

    # Loop over number of epochs
    for epoch in range(args.num_epochs):

        # Initialize iterator with the training dataset
        sess.run(training_init_op)

        for step in range(train_batches_per_epoch):
            if args.steps and global_step >= args.steps:
                break

            # get next batch of data
            img_batch, label_batch = sess.run(next_batch)

            # And run the training op
            _, batch_loss = sess.run([train_op, loss], feed_dict={x: img_batch,
                                                                  y: label_batch,
                                                                  keep_prob: args.keep_prob})
            global_step += 1

            # Generate summary with the current batch of data and write to file
            if step % args.display_step == 0:
                s = sess.run(merged_summary, feed_dict={x: img_batch,
                                                        y: label_batch,
                                                        keep_prob: 1.})
                writer.add_summary(s, epoch*train_batches_per_epoch + step)

        # Validate the model on the entire validation set
        sess.run(validation_init_op)
        test_acc = 0.
        test_count = 0
        for _ in range(val_batches_per_epoch):
            img_batch, label_batch = sess.run(next_batch)
            acc = sess.run(accuracy, feed_dict={x: img_batch,
                                                y: label_batch,
                                                keep_prob: 1.})
            test_acc += acc
            test_count += 1
        test_acc /= test_count
        print("{} Epoch {}: loss of the last batch {:.6f}, validation accuracy {:.4f}".format(
            datetime.now(), epoch+1, batch_loss, test_acc))

        # save checkpoint of the model
        checkpoint_name = os.path.join(checkpoint_path, 'model_epoch'+str(epoch+1)+'.ckpt')
        save_path = saver.save(sess, checkpoint_name)
        print("{} Model checkpoint saved at {}".format(datetime.now(), save_path))

        if args.steps and global_step >= args.steps:
            break

    print("Test accuracy: {:.4f}".format(test_acc))
writer.close()
