"""SciPy functions that are gone or have moved."""

from __future__ import annotations

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.old_libraries import report_import, report_use
from tf2npu.scanner.sites import Site

_MISC = {
    "imread": "imageio.imread(path)",
    "imsave": "imageio.imwrite(path, array)",
    "imresize": "np.array(PIL.Image.fromarray(array).resize((width, height)))",
    "imrotate": "scipy.ndimage.rotate(array, angle)",
    "imfilter": "PIL.ImageFilter",
    "imshow": "matplotlib.pyplot.imshow(array)",
    "toimage": "PIL.Image.fromarray(array)",
    "fromimage": "np.asarray(image)",
    "bytescale": "skimage.util.img_as_ubyte, or the scaling written out",
    "logsumexp": "scipy.special.logsumexp",
    "comb": "scipy.special.comb",
    "factorial": "scipy.special.factorial",
    "face": "scipy.datasets.face",
    "ascent": "scipy.datasets.ascent",
    "derivative": "the difference quotient written out",
}
_OTHER = {
    "scipy.interp": "np.interp",
    "scipy.signal.hann": "scipy.signal.windows.hann",
    "scipy.signal.hamming": "scipy.signal.windows.hamming",
    "scipy.signal.gaussian": "scipy.signal.windows.gaussian",
    "scipy.integrate.trapz": "scipy.integrate.trapezoid",
    "scipy.integrate.cumtrapz": "scipy.integrate.cumulative_trapezoid",
    "scipy.integrate.simps": "scipy.integrate.simpson",
    "scipy.ndimage.imread": "imageio.imread(path)",
}
_INSTEAD = {
    **{f"scipy.misc.{name}": code for name, code in _MISC.items()},
    **{f"scipy.misc.pilutil.{name}": code for name, code in _MISC.items() if name in ("imread", "imsave", "imresize", "toimage")},
    **_OTHER,
}
_SINCE = "SciPy 1.3 (some later)"


@rule(
    id="NPU961",
    title="SciPy functions that are gone",
    once=True,
    on=("reference", "call"),
    matches=tuple(_INSTEAD),
    why="scipy.misc no longer holds image functions (SciPy 1.2 and 1.3), and is empty in newer versions.",
    done_when="`tf2npu run` passes this line, and the value is the one that the older version gave.",
    source="SciPy release notes of 1.0 to 1.14",
    examples=(
        Example.same(
            "import scipy.misc\nimport tensorflow as tf\nx = scipy.misc.imread('a.png')",
            level="info",
            write="import imageio\nimport tensorflow as tf\nx = imageio.imread('a.png')",
        ),
        Example.same("from scipy.misc import imresize\nimport tensorflow as tf\nx = imresize(y, (8, 8))", level="info"),
        Example.same(
            "from scipy.misc import face\nimport tensorflow as tf\nx = face()",
            level="manual",
            write="from scipy.datasets import face\nimport tensorflow as tf\nx = face()",
        ),
        Example.same("import scipy.special\nimport tensorflow as tf\nx = scipy.special.logsumexp(y)", note="its place today"),
        Example.same("from my.misc import imresize\nimport tensorflow as tf\nx = imresize(y, (8, 8))", note="the user's own"),
    ),
)
def scipy_function(site: Site) -> None:
    """Reports SciPy functions that are gone and says what to write."""
    report_use(site, _SINCE, _INSTEAD[site.name])


@part_of(scipy_function, on="import")
def scipy_import(site: Site) -> None:
    """Reports imports of SciPy functions that are gone."""
    report_import(site, _INSTEAD, _SINCE)
