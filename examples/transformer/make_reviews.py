"""Writes reviews.tsv: short film reviews put together from templates, one `label<TAB>text` a line.

The sentiment hangs on an adjective and on what turns it around ("not", "hardly", "far from"), so a bag of words
does not do and attention has something to learn. The same seed gives the same file.

    python make_reviews.py ../data/reviews.tsv
"""
import random
import sys

POSITIVE = ['good', 'great', 'wonderful', 'moving', 'clever', 'funny', 'brilliant', 'charming']
NEGATIVE = ['bad', 'dull', 'awful', 'boring', 'clumsy', 'tedious', 'terrible', 'flat']
NEGATIONS = ['not', 'never', 'hardly', 'far from', 'anything but']
THINGS = ['the film', 'this movie', 'the story', 'the acting', 'the script', 'the music', 'the ending', 'the cast']
VERBS = ['was', 'is', 'seemed', 'felt']
DEGREES = ['', 'really', 'quite', 'very', 'rather']
OPENINGS = ['', 'honestly ,', 'i must say', 'to my surprise', 'as expected ,', 'my friends think']
CLOSINGS = ['', 'from start to end', 'and i saw it twice', 'if you ask me', 'for a sunday evening', 'despite the hype']


def review(rng):
    """One review: (label, text), label 1 when the review is positive."""
    positive = rng.random() < 0.5
    negated = rng.random() < 0.5
    adjective = rng.choice(POSITIVE if positive else NEGATIVE)
    degree = rng.choice(DEGREES)
    words = [rng.choice(OPENINGS), rng.choice(THINGS), rng.choice(VERBS)]
    if negated:
        words.append(rng.choice(NEGATIONS))
    words += [degree, adjective, rng.choice(CLOSINGS)]
    return int(positive != negated), ' '.join(' '.join(words).split())


def main(path, count=3000, seed=1):
    rng = random.Random(seed)
    with open(path, 'w') as f:
        for _ in range(count):
            f.write('%d\t%s\n' % review(rng))


if __name__ == '__main__':
    main(sys.argv[1])
