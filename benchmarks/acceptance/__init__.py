"""The converter against code it has never seen: corpora brought by the caller, properties checked, speed measured."""
