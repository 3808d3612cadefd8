"""Parallel work: settings of the search for strategies, which one device and DATA_PARALLEL have no use for."""

from mindspore.parallel.algo_parameter_config import get_algo_parameters, reset_algo_parameters, set_algo_parameters

__all__ = ["get_algo_parameters", "reset_algo_parameters", "set_algo_parameters"]
