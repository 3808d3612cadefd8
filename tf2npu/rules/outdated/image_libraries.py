"""Names of image libraries that are gone."""

from __future__ import annotations

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.old_libraries import report_import, report_use
from tf2npu.scanner.sites import Site

_TABLE = {
    "PIL.Image.ANTIALIAS": ("Pillow 10", "PIL.Image.LANCZOS"),
    "PIL.Image.LINEAR": ("Pillow 10", "PIL.Image.BILINEAR"),
    "PIL.Image.CUBIC": ("Pillow 10", "PIL.Image.BICUBIC"),
    "skimage.measure.compare_ssim": ("scikit-image 0.18", "skimage.metrics.structural_similarity"),
    "skimage.measure.compare_psnr": ("scikit-image 0.18", "skimage.metrics.peak_signal_noise_ratio"),
    "skimage.measure.compare_mse": ("scikit-image 0.18", "skimage.metrics.mean_squared_error"),
    "skimage.measure.compare_nrmse": ("scikit-image 0.18", "skimage.metrics.normalized_root_mse"),
    "skimage.filter": ("scikit-image 0.13", "skimage.filters"),
    "cv2.cv": ("OpenCV 3", "the names of cv2 itself"),
}
_INSTEAD = {name: code for name, (_, code) in _TABLE.items()}
_SINCE = {name: version for name, (version, _) in _TABLE.items()}
_NAMES = tuple(name for name in _TABLE if name not in ("skimage.filter", "cv2.cv"))


@rule(
    id="NPU965",
    title="Image library names that are gone",
    once=True,
    on=("call", "reference"),
    matches=_NAMES,
    why="Old code uses names that newer versions of Pillow and scikit-image no longer have.",
    done_when="`tf2npu run` passes this line, and the value is the one that the older version gave.",
    source="Pillow 10 and scikit-image 0.16 to 0.18 release notes",
    examples=(
        Example.same(
            "from PIL import Image\nimport tensorflow as tf\ni = i.resize((8, 8), Image.ANTIALIAS)",
            level="info",
            write="from PIL import Image\nimport tensorflow as tf\ni = i.resize((8, 8), Image.LANCZOS)",
        ),
        Example.same("from skimage.measure import compare_ssim\nimport tensorflow as tf", level="manual"),
        Example.same("from PIL import Image\nimport tensorflow as tf\ni = i.resize((8, 8), Image.LANCZOS)", note="still there"),
        Example.same("from skimage.measure import label\nimport tensorflow as tf", note="still there"),
    ),
)
def image_name(site: Site) -> None:
    """Reports names of image libraries that are gone and says what to write."""
    report_use(site, _SINCE[site.name], _INSTEAD[site.name])


@part_of(image_name, on="import")
def image_import(site: Site) -> None:
    """Reports imports of names of image libraries that are gone."""
    report_import(site, _INSTEAD, _SINCE)
