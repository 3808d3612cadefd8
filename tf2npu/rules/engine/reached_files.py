"""Files that a TensorFlow script reaches: they are parsed when they may hold what a rule looks for."""

from __future__ import annotations

import re

from tf2npu.rules import hooks
from tf2npu.rules.facts.old_libraries import PYTHON2_VALUES

# What a file must hold for one of these rules to have anything to say, so that others need not be parsed.
_HINTS = re.compile(
    rb"\.(?:int|float|bool|object|str|long|unicode|complex|typeDict|float_|complex_|unicode_|string_|Inf|infty|[PN]INF|NaN|product"
    rb"|cumproduct|sometrue|alltrue|asfarray|cast|find_common_type|in1d|trapz|row_stack|msort|mat|loads|asscalar|rank|safe_eval)\b"
    rb"|scipy|sklearn|skimage|yaml\.load|ANTIALIAS|Image\.(?:LINEAR|CUBIC)|collections\W[^\n]*[A-Z]\w+(?:able|tor|ing|ence|Set|View)"
    rb"|\.clock\b|argspec|linux_distribution|platform\.dist|fractions|cgi|base64|getcwdu|string\.\w|itertools\W[^\n]*\bi[zmf]"
    rb"|maxint|setcheckinterval|cElementTree|\b(?:imp|distutils|asyncore|pipes|formatter|parser|symbol)\b|asyncio"
    rb"|\b(?:Queue|cPickle|c?StringIO|ConfigParser|Cookie|HTMLParser|SocketServer|BaseHTTPServer|SimpleHTTPServer|xmlrpclib|Tkinter"
    rb"|tkMessageBox|tkFileDialog|UserDict|__builtin__|commands|cookielib|copy_reg|httplib|urllib2|urlparse|thread|md5|sets)\b|cv2\.cv"
    rb"|urllib(?:\.|\s+import\b[^\n]*\b)(?:url|URL|Fancy|(?:un)?quote|getproxies|proxy_|pathname2|ContentToo)"
    rb"|\b(?:OMPI_COMM|MV2_COMM|PMI|HOROVOD)_"  # NPU422
    rb"|\b(?:xrange|unichr|basestring|raw_input|execfile|StandardError)\b|\b(?:unicode|long|reduce)\("
    rb"|(?:pickle|Pickle|json)\.(?:dump|load)\(|csv\.(?:Dict)?(?:r|R|w|W)|" + PYTHON2_VALUES.pattern.encode()  # file_modes
)

_NOTHING = re.compile(rb"\b(\w+)[ \t]*=[ \t]*None\b")
_ORDER = re.compile(rb"(\w+)[ \t]*[<>]=?[ \t]*(?:[\w.]*\.)?(\w+)")


@hooks.before_file
def mentions_old_library(data: bytes) -> bool:
    """Whether a file could hold a name that is gone; a quick look at its bytes."""
    return _HINTS.search(data) is not None


@hooks.before_file
def may_compare_none(data: bytes) -> bool:
    """Whether a file could compare by its order what it gives the value None (none_orders)."""
    nothing = set(_NOTHING.findall(data))
    return bool(nothing) and any(not nothing.isdisjoint(names) for names in _ORDER.findall(data))
