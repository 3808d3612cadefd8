"""Cells of normalisation."""

from __future__ import annotations

from typing import Any

from mindspore import _checkparam as check
from mindspore._device.precision import within
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.nn.cell import Cell
from mindspore.ops import functional as F
from mindspore.ops import operations as P


class _BatchNorm(Cell):
    """Statistics that move in training: moving = momentum * moving + (1 - momentum) * batch, with the unbiased variance."""

    axes: tuple[int, ...] = (2, 4)
    """The numbers of axes that an input may have."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True, gamma_init: Any = "ones",
        beta_init: Any = "zeros", moving_mean_init: Any = "zeros", moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None, data_format: str = "NCHW",
    ) -> None:  # fmt: skip
        super().__init__()
        name = self.cls_name
        self.num_features, self.eps = check.positive_int(num_features, "num_features", name), eps
        if not 0 <= momentum <= 1:
            raise ValueError(f"{name}(momentum={momentum}): a number from 0 to 1 is needed")
        self.format = check.one_of(data_format, ("NCHW",), "data_format", f"{name} on an Ascend NPU")
        self.use_batch_statistics = use_batch_statistics
        self.momentum = 1.0 - momentum
        self.moving_mean = Parameter(initializer(moving_mean_init, num_features), name="mean", requires_grad=False)
        self.moving_variance = Parameter(initializer(moving_var_init, num_features), name="variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, num_features), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, num_features), name="beta", requires_grad=affine)
        self.bn_train, self.bn_infer = P.BatchNorm(is_training=True, epsilon=eps), P.BatchNorm(is_training=False, epsilon=eps)
        self.assign_sub = P.AssignSub()

    def construct(self, x: Any) -> Any:
        if len(x.shape) not in self.axes or x.shape[1] != self.num_features:
            raise ValueError(
                f"{self.cls_name}({self.num_features}) takes {' or '.join(map(str, self.axes))} axes and {self.num_features} "
                f"channels, and got the shape {x.shape}"
            )
        with within(None):  # the parameters stay in float32, whatever the type of the cell
            return self._normalised(x, self.training if self.use_batch_statistics is None else self.use_batch_statistics)

    def _normalised(self, x: Any, is_of_batch: bool) -> Any:
        if not is_of_batch:
            return self.bn_infer(x, self.gamma, self.beta, self.moving_mean, self.moving_variance)[0]
        y, mean, variance, _, _ = self.bn_train(x, self.gamma, self.beta, None, None)
        for moving, new in ((self.moving_mean, mean), (self.moving_variance, variance)):
            self.assign_sub(moving, (moving - new) * self.momentum)
        return y

    def extend_repr(self) -> str:
        return f"num_features={self.num_features}, eps={self.eps}, momentum={1.0 - self.momentum}"


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of rows (N, C)."""

    axes = (2,)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of images (N, C, H, W)."""

    axes = (4,)


class GlobalBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of several devices; with one device it is that of its own batch."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True, gamma_init: Any = "ones",
        beta_init: Any = "zeros", moving_mean_init: Any = "zeros", moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None, device_num_each_group: int = 2,
    ) -> None:  # fmt: skip
        from mindspore.communication.management import get_group_size

        if check.positive_int(device_num_each_group, "device_num_each_group", "GlobalBatchNorm") == 1:
            raise ValueError("GlobalBatchNorm(device_num_each_group=1): a number above 1 is needed")
        if get_group_size() > 1:
            raise RuntimeError(
                f"GlobalBatchNorm over {get_group_size()} devices is not simulated: use BatchNorm2d, or one device"
            )
        super().__init__(
            num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init, use_batch_statistics
        )


class LayerNorm(Cell):
    """Normalisation of each example over its last axes."""

    def __init__(
        self, normalized_shape: Any, begin_norm_axis: int = -1, begin_params_axis: int = -1, gamma_init: Any = "ones",
        beta_init: Any = "zeros", epsilon: float = 1e-7,
    ) -> None:  # fmt: skip
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise TypeError(f"LayerNorm(normalized_shape={normalized_shape!r}): a tuple or list of numbers is needed")
        self.normalized_shape, self.epsilon = normalized_shape, epsilon
        self.begin_norm_axis, self.begin_params_axis = begin_norm_axis, begin_params_axis
        self.gamma = Parameter(initializer(gamma_init, normalized_shape), name="gamma")
        self.beta = Parameter(initializer(beta_init, normalized_shape), name="beta")
        self.layer_norm = P.LayerNorm(begin_norm_axis, begin_params_axis, epsilon)

    def construct(self, input_x: Any) -> Any:
        return self.layer_norm(input_x, self.gamma, self.beta)[0]

    def extend_repr(self) -> str:
        return f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}"


class GroupNorm(Cell):
    """Normalisation of each image over groups of channels."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, gamma_init: Any = "ones",
        beta_init: Any = "zeros",
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_groups = check.positive_int(num_groups, "num_groups", "GroupNorm")
        self.num_channels = check.positive_int(num_channels, "num_channels", "GroupNorm")
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm(num_groups={num_groups}, num_channels={num_channels}): the channels do not divide")
        self.eps, self.affine = check.a_float(eps, "eps", "GroupNorm"), check.flag(affine, "affine", "GroupNorm")
        gamma, beta = initializer(gamma_init, num_channels), initializer(beta_init, num_channels)
        self.gamma = Parameter(gamma, name="gamma") if affine else gamma
        self.beta = Parameter(beta, name="beta") if affine else beta
        self.reduce_mean = P.ReduceMean(keep_dims=True)

    def construct(self, x: Any) -> Any:
        if len(x.shape) != 4 or x.shape[1] != self.num_channels:
            raise ValueError(f"GroupNorm takes images (N, {self.num_channels}, H, W), and got the shape {x.shape}")
        shape = x.shape
        x = F.reshape(x, (shape[0], self.num_groups, -1))
        centred = x - self.reduce_mean(x, 2)
        deviation = F.sqrt(self.reduce_mean(F.square(centred), 2) + self.eps)
        x = F.reshape(centred / deviation, shape)
        return x * F.reshape(self.gamma, (-1, 1, 1)) + F.reshape(self.beta, (-1, 1, 1))

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


__all__ = ["BatchNorm1d", "BatchNorm2d", "GlobalBatchNorm", "GroupNorm", "LayerNorm"]
