"""Small projects in which a RunConfig and an Estimator meet, written by hand and not from the converter's output.

A variant: its name, and files as one text, each below a line `=== path`.  Files of `PAIRS` become NPURunConfig and NPUEstimator
throughout; those of `STAYS` keep every RunConfig and every Estimator, which is wrapped.
"""

from __future__ import annotations

PAIRS: dict[str, str] = {
    "a function of another file gives the config": """
=== conf.py
import tensorflow as tf
def get_config(d):
    return tf.estimator.RunConfig(d)
=== train.py
import tensorflow as tf
from conf import get_config
e = tf.estimator.Estimator(fn, config=get_config('d'))
""",
    "the function is reached through its module": """
=== lib/conf.py
import tensorflow as tf
def get_config(d):
    return tf.estimator.RunConfig(model_dir=d)
=== train.py
import tensorflow as tf
import lib.conf
from lib import conf as c
e = tf.estimator.Estimator(fn, config=lib.conf.get_config('d'))
f = tf.estimator.Estimator(fn, config=c.get_config('d'))
""",
    "the config is kept in a variable on both sides": """
=== conf.py
import tensorflow as tf
def get_config(d):
    config = tf.estimator.RunConfig(d, None, 100)
    return config
=== train.py
import tensorflow as tf
from conf import get_config
def main():
    config = get_config('d')
    e = tf.estimator.Estimator(model_fn=fn, config=config)
    e.train(input_fn)
""",
    "a package hands the function on": """
=== lib/__init__.py
from .conf import get_config
=== lib/conf.py
import tensorflow as tf
def get_config():
    return tf.estimator.RunConfig()
=== train.py
import tensorflow as tf
import lib
e = tf.estimator.Estimator(fn, config=lib.get_config())
""",
    "a star import brings the function": """
=== conf.py
import tensorflow as tf
def get_config():
    return tf.estimator.RunConfig()
=== train.py
import tensorflow as tf
from conf import *
e = tf.estimator.Estimator(fn, config=get_config())
""",
    "the config is a name of another module": """
=== conf.py
import tensorflow as tf
CONFIG = tf.estimator.RunConfig(model_dir='d')
=== train.py
import tensorflow as tf
from conf import CONFIG
import conf
e = tf.estimator.Estimator(fn, config=CONFIG)
f = tf.estimator.Estimator(fn, config=conf.CONFIG)
""",
    "a function hands on what another gives": """
=== base.py
import tensorflow as tf
def make(d):
    return tf.estimator.RunConfig(d)
=== conf.py
from base import make
def get_config(flags):
    config = make(flags.d)
    return config
=== train.py
import tensorflow as tf
import conf
e = tf.estimator.Estimator(fn, config=conf.get_config(flags))
""",
    "a factory of another file gets the config": """
=== model.py
import tensorflow as tf
def build_estimator(config, params):
    return tf.estimator.Estimator(fn, config=config, params=params)
=== train.py
import tensorflow as tf
from model import build_estimator
e = build_estimator(tf.estimator.RunConfig('d'), {})
""",
    "the factory gets it by keyword, after a changed copy": """
=== model.py
import tensorflow as tf
def build_estimator(params, config=None):
    return tf.estimator.Estimator(fn, config=config, params=params)
=== train.py
import tensorflow as tf
import model
config = tf.estimator.RunConfig('d')
config = config.replace(save_summary_steps=5)
e = model.build_estimator({}, config=config)
""",
    "a factory with two callers in two files": """
=== model.py
import tensorflow as tf
def build_estimator(config):
    return tf.estimator.Estimator(fn, config=config)
=== train.py
import tensorflow as tf
from model import build_estimator
e = build_estimator(tf.estimator.RunConfig('d'))
=== evaluate.py
import tensorflow as tf
from model import build_estimator
e = build_estimator(config=tf.estimator.RunConfig('e'))
""",
    "a factory that makes the config where it gets none": """
=== model.py
import tensorflow as tf
def build_estimator(config=None):
    config = config or tf.estimator.RunConfig()
    return tf.estimator.Estimator(fn, config=config)
=== train.py
from model import build_estimator
e = build_estimator()
""",
    "a condition fills in the config that is missing": """
=== model.py
import tensorflow as tf
def build_estimator(config=None):
    if config is None:
        config = tf.estimator.RunConfig()
    return tf.estimator.Estimator(fn, config=config)
=== train.py
import tensorflow as tf
from model import build_estimator
e = build_estimator()
f = build_estimator(tf.estimator.RunConfig('d'))
""",
    "both arms of a condition give one": """
=== conf.py
import tensorflow as tf
def get_config(fast):
    if fast:
        config = tf.estimator.RunConfig(save_summary_steps=1000)
    else:
        config = tf.estimator.RunConfig()
    return config
=== train.py
import tensorflow as tf
from conf import get_config
e = tf.estimator.Estimator(fn, config=get_config(True))
""",
    "both arms return one": """
=== conf.py
import tensorflow as tf
def get_config(fast):
    if fast:
        return tf.estimator.RunConfig(save_summary_steps=1000)
    return tf.estimator.RunConfig().replace(model_dir='d')
=== train.py
import tensorflow as tf
from conf import get_config
e = tf.estimator.Estimator(fn, config=get_config(True))
""",
    "a conditional expression chooses": """
=== conf.py
import tensorflow as tf
def plain():
    return tf.estimator.RunConfig()
=== train.py
import tensorflow as tf
from conf import plain
config = plain() if quick else tf.estimator.RunConfig('d')
e = tf.estimator.Estimator(fn, config=config)
""",
    "a copy is changed in the file of the Estimator": """
=== conf.py
import tensorflow as tf
def get_config():
    return tf.estimator.RunConfig()
=== train.py
import tensorflow as tf
from conf import get_config
e = tf.estimator.Estimator(fn, config=get_config().replace(model_dir='d'))
""",
    "self.config of one class": """
=== train.py
import tensorflow as tf
class Trainer(object):
    def __init__(self, d):
        self.config = tf.estimator.RunConfig(d)
    def run(self):
        return tf.estimator.Estimator(fn, config=self.config)
""",
    "self.config is given to the constructor": """
=== trainer.py
import tensorflow as tf
class Trainer(object):
    def __init__(self, model_fn, config):
        self.model_fn = model_fn
        self.config = config
    def run(self):
        return tf.estimator.Estimator(self.model_fn, config=self.config)
=== train.py
import tensorflow as tf
from trainer import Trainer
t = Trainer(fn, config=tf.estimator.RunConfig('d'))
t.run()
""",
    "the base class keeps the config": """
=== base.py
import tensorflow as tf
class Base(object):
    def __init__(self):
        self.config = tf.estimator.RunConfig()
=== train.py
import tensorflow as tf
from base import Base
class Trainer(Base):
    def run(self):
        return tf.estimator.Estimator(fn, config=self.config)
""",
    "a method of the class makes the config": """
=== train.py
import tensorflow as tf
class Trainer(object):
    def _config(self):
        return tf.estimator.RunConfig(self.d)
    def run(self):
        return tf.estimator.Estimator(fn, config=self._config())
""",
    "a property makes the config": """
=== train.py
import tensorflow as tf
class Trainer(object):
    @property
    def config(self):
        return tf.estimator.RunConfig(self.d)
    def run(self):
        return tf.estimator.Estimator(fn, config=self.config)
""",
    "a method that builds gets the config": """
=== model.py
import tensorflow as tf
class Model(object):
    def build_estimator(self, run_config):
        return tf.estimator.Estimator(self.fn, config=run_config)
=== train.py
import tensorflow as tf
from model import Model
Model().build_estimator(tf.estimator.RunConfig('d'))
""",
    "a dictionary with constant keys": """
=== train.py
import tensorflow as tf
settings = {'steps': 10, 'config': tf.estimator.RunConfig('d')}
e = tf.estimator.Estimator(fn, config=settings['config'])
""",
    "a dictionary of another module": """
=== conf.py
import tensorflow as tf
CONFIGS = dict(train=tf.estimator.RunConfig('d'), evaluate=tf.estimator.RunConfig('e'))
=== train.py
import tensorflow as tf
from conf import CONFIGS
e = tf.estimator.Estimator(fn, config=CONFIGS['train'])
f = tf.estimator.Estimator(fn, config=CONFIGS.get('evaluate'))
""",
    "a function fills a dictionary and returns it": """
=== conf.py
import tensorflow as tf
def settings():
    found = {}
    found['config'] = tf.estimator.RunConfig('d')
    return found
=== train.py
import tensorflow as tf
from conf import settings
s = settings()
e = tf.estimator.Estimator(fn, config=s['config'])
""",
    "arguments out of a dictionary": """
=== model.py
import tensorflow as tf
def build(model_fn, config):
    return tf.estimator.Estimator(model_fn, config=config)
=== train.py
import tensorflow as tf
from model import build
def main():
    given = {'model_fn': fn, 'config': tf.estimator.RunConfig('d')}
    return build(**given)
""",
    "the Estimator is made two calls deep": """
=== model.py
import tensorflow as tf
def make(config):
    return tf.estimator.Estimator(fn, config=config)
=== steps.py
from model import make
def prepare(config, steps):
    return make(config)
=== train.py
import tensorflow as tf
import steps
steps.prepare(tf.estimator.RunConfig('d'), 5)
""",
    "a static method is called by its class": """
=== runner.py
import tensorflow as tf
class Runner(object):
    @staticmethod
    def _get_run_config(mode, model_dir):
        config = tf.estimator.RunConfig(model_dir=model_dir, train_distribute=None)
        if mode == 'train':
            config = config.replace(save_checkpoints_steps=1000)
        return config
    def _get_estimator(self, mode):
        run_config = Runner._get_run_config(mode=mode, model_dir=self.d)
        return tf.estimator.Estimator(model_fn=self._model, config=run_config)
""",
    "the other arm copies the config that was given": """
=== lib/estimators.py
import copy
import tensorflow as tf
def create(model, run_config=None, model_dir=None):
    if run_config is None:
        run_config = tf.estimator.RunConfig()
    else:
        run_config = copy.deepcopy(run_config)
    return tf.estimator.Estimator(model, model_dir, run_config)
=== train.py
import tensorflow as tf
from lib import estimators
estimators.create(model, tf.estimator.RunConfig(keep_checkpoint_max=1), 'd')
=== evaluate.py
from lib import estimators
estimators.create(model, model_dir='d')
""",
    "a class method of another file, and a base that is given the config": """
=== base.py
import tensorflow as tf
class Base(object):
    def __init__(self, config):
        self.config = config
    def estimator(self):
        return tf.estimator.Estimator(self.fn, config=self.config)
=== train.py
import tensorflow as tf
from base import Base
class Settings(object):
    @classmethod
    def config(cls, d):
        return tf.estimator.RunConfig(d)
class Trainer(Base):
    def __init__(self, d):
        super(Trainer, self).__init__(Settings.config(d))
""",
    "names are given by `global`": """
=== train.py
import tensorflow as tf
CONFIG = None
def prepare():
    global CONFIG
    CONFIG = tf.estimator.RunConfig('d')
def main():
    config = CONFIG or tf.estimator.RunConfig()
    return tf.estimator.Estimator(fn, config=config)
""",
}

STAYS: dict[str, str] = {
    "nobody is seen to call the factory": """
=== model.py
import tensorflow as tf
def build_estimator(config):
    return tf.estimator.Estimator(fn, config=config)
=== train.py
import tensorflow as tf
config = tf.estimator.RunConfig('d')
run(config)
""",
    "one of two callers gives something unknown": """
=== model.py
import tensorflow as tf
def build_estimator(config):
    return tf.estimator.Estimator(fn, config=config)
=== train.py
import tensorflow as tf
from model import build_estimator
build_estimator(tf.estimator.RunConfig('d'))
=== serve.py
from model import build_estimator
from somewhere import load_config
build_estimator(load_config())
""",
    "the factory is passed on": """
=== model.py
import tensorflow as tf
def build_estimator(config):
    return tf.estimator.Estimator(fn, config=config)
=== train.py
import tensorflow as tf
from model import build_estimator
build_estimator(tf.estimator.RunConfig('d'))
schedule(build_estimator)
""",
    "a notebook calls the factory too": """
=== model.py
import tensorflow as tf
def build_estimator(config):
    return tf.estimator.Estimator(fn, config=config)
=== train.py
import tensorflow as tf
from model import build_estimator
build_estimator(tf.estimator.RunConfig('d'))
=== look.ipynb
import model
model.build_estimator(saved['config'])
""",
    "a file that Python cannot read imports the factory": """
=== model.py
import tensorflow as tf
def build_estimator(config):
    return tf.estimator.Estimator(fn, config=config)
=== train.py
import tensorflow as tf
from model import build_estimator
build_estimator(tf.estimator.RunConfig('d'))
=== old.py
from model import build_estimator
print build_estimator(c)
""",
    "one arm of the condition is unknown": """
=== conf.py
import tensorflow as tf
def get_config(path):
    if path:
        return load(path)
    return tf.estimator.RunConfig()
=== train.py
import tensorflow as tf
from conf import get_config
e = tf.estimator.Estimator(fn, config=get_config(None))
""",
    "one way out of the function gives nothing": """
=== conf.py
import tensorflow as tf
def get_config(is_set):
    if is_set:
        return tf.estimator.RunConfig()
=== train.py
import tensorflow as tf
from conf import get_config
e = tf.estimator.Estimator(fn, config=get_config(False))
""",
    "a canned Estimator gets the same config": """
=== conf.py
import tensorflow as tf
def get_config():
    return tf.estimator.RunConfig('d')
=== train.py
import tensorflow as tf
from conf import get_config
config = get_config()
e = tf.estimator.Estimator(fn, config=config)
f = tf.estimator.DNNClassifier([4], columns, config=config)
""",
    "a Keras Estimator gets the same config in another file": """
=== conf.py
import tensorflow as tf
CONFIG = tf.estimator.RunConfig('d')
=== keras_model.py
import tensorflow as tf
from conf import CONFIG
e = tf.keras.estimator.model_to_estimator(model, config=CONFIG)
=== train.py
import tensorflow as tf
from conf import CONFIG
e = tf.estimator.Estimator(fn, config=CONFIG)
""",
    "the arguments of the config are not known": """
=== conf.py
import tensorflow as tf
def get_config(**kw):
    return tf.estimator.RunConfig(**kw)
=== train.py
import tensorflow as tf
from conf import get_config
e = tf.estimator.Estimator(fn, config=get_config(model_dir='d'))
""",
    "a comment keeps the config": """
=== conf.py
import tensorflow as tf
def get_config():
    return tf.estimator.RunConfig()  # tf2npu: ignore[NPU202]
=== train.py
import tensorflow as tf
from conf import get_config
e = tf.estimator.Estimator(fn, config=get_config())
""",
    "the config is of a script for TensorFlow 2": """
=== conf.py
import tensorflow as tf
import npu_device
def get_config():
    return tf.estimator.RunConfig()
=== train.py
import tensorflow as tf
from conf import get_config
s = tf.placeholder(tf.float32)
e = tf.estimator.Estimator(fn, config=get_config())
""",
    "a decorator stands around the function": """
=== conf.py
import tensorflow as tf
@cached
def get_config():
    return tf.estimator.RunConfig()
=== train.py
import tensorflow as tf
from conf import get_config
e = tf.estimator.Estimator(fn, config=get_config())
""",
    "the key of the dictionary is computed": """
=== conf.py
import tensorflow as tf
CONFIGS = {'train': tf.estimator.RunConfig('d')}
CONFIGS[name] = load()
=== train.py
import tensorflow as tf
from conf import CONFIGS
e = tf.estimator.Estimator(fn, config=CONFIGS['train'])
""",
    "the attribute is set from outside": """
=== trainer.py
import tensorflow as tf
class Trainer(object):
    def __init__(self):
        self.config = tf.estimator.RunConfig('d')
    def run(self):
        return tf.estimator.Estimator(fn, config=self.config)
=== train.py
from trainer import Trainer
t = Trainer()
t.config = load()
t.run()
""",
    "a subclass of another file sets the attribute": """
=== trainer.py
import tensorflow as tf
class Trainer(object):
    def setup(self):
        self.config = tf.estimator.RunConfig('d')
    def run(self):
        return tf.estimator.Estimator(fn, config=self.config)
=== mine.py
from trainer import Trainer
class Mine(Trainer):
    def setup(self):
        self.config = load_estimator_config()
""",
    "the function is defined twice": """
=== conf.py
import tensorflow as tf
if fast:
    def get_config():
        return load()
else:
    def get_config():
        return tf.estimator.RunConfig()
=== train.py
import tensorflow as tf
from conf import get_config
e = tf.estimator.Estimator(fn, config=get_config())
""",
    "a subclass that is not seen to be made gives the base something unknown": """
=== base.py
import tensorflow as tf
class Base(object):
    def __init__(self, config):
        self.config = config
    def estimator(self):
        return tf.estimator.Estimator(self.fn, config=self.config)
=== train.py
import tensorflow as tf
from base import Base
class Trainer(Base):
    def __init__(self):
        super().__init__(tf.estimator.RunConfig('d'))
class Server(Base):
    def __init__(self, saved):
        Base.__init__(self, saved.config)
""",
    "a method of the same name is called with something unknown": """
=== model.py
import tensorflow as tf
class Model(object):
    def build(self, config):
        return tf.estimator.Estimator(self.fn, config=config)
=== train.py
import tensorflow as tf
from model import Model
def run(m):
    Model().build(tf.estimator.RunConfig('d'))
    m.build(load())
""",
    "the class is handed to something that may call it": """
=== model.py
import tensorflow as tf
class Model(object):
    def __init__(self, config):
        self.e = tf.estimator.Estimator(fn, config=config)
=== train.py
import tensorflow as tf
from model import Model
Model(tf.estimator.RunConfig('d'))
register(Model)
""",
    "the dictionary is changed by a call": """
=== train.py
import tensorflow as tf
settings = {'config': tf.estimator.RunConfig('d')}
fill(settings)
e = tf.estimator.Estimator(fn, config=settings['config'])
""",
    "two star imports may bring the function": """
=== conf.py
import tensorflow as tf
def get_config():
    return tf.estimator.RunConfig()
=== other.py
def get_config():
    return 5
=== train.py
import tensorflow as tf
from conf import *
from other import *
e = tf.estimator.Estimator(fn, config=get_config())
""",
    "a loop gives the config": """
=== train.py
import tensorflow as tf
for config in [tf.estimator.RunConfig('a'), tf.estimator.RunConfig('b')]:
    e = tf.estimator.Estimator(fn, config=config)
""",
    "the config comes out of a file": """
=== train.py
import pickle
import tensorflow as tf
config = tf.estimator.RunConfig('d')
config = pickle.load(f)
e = tf.estimator.Estimator(fn, config=config)
""",
    "the argument may be left out": """
=== model.py
import tensorflow as tf
def build_estimator(config=None):
    return tf.estimator.Estimator(fn, config=config)
=== train.py
import tensorflow as tf
from model import build_estimator
build_estimator(tf.estimator.RunConfig('d'))
build_estimator()
""",
    "the module is looked up by name": """
=== conf.py
import tensorflow as tf
def get_config():
    return tf.estimator.RunConfig()
=== train.py
import importlib
import tensorflow as tf
conf = importlib.import_module(name)
e = tf.estimator.Estimator(fn, config=conf.get_config())
""",
    "the name is bound again by another import": """
=== conf.py
import tensorflow as tf
def get_config():
    return tf.estimator.RunConfig()
=== train.py
import tensorflow as tf
from conf import get_config
from other import get_config
e = tf.estimator.Estimator(fn, config=get_config())
""",
}
