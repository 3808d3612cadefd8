"""Device runs made by hand: a LeNet-like network in a loop, three graphs on a device, two ranks, and tasks planted to be found.

Durations follow from sizes and from a seed; nothing here comes from the profiler.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from npu_runtime.cost.task_cost import TaskCost, Traffic
from npu_runtime.simulation.run_record import DeviceRun, DeviceTask, Iteration, ModelRun, TaskRun, TensorDescription

CORES = 32


def core_cost(us: float, n_blocks: int = CORES, cube: float = 0.0, vector: float = 0.4) -> TaskCost:
    """A task that keeps each of its cores for `us`; cube, vector: shares of that in which these units are busy."""
    cycles = us * 1000 * n_blocks
    shares = {"cube": cube, "vector": vector, "scalar": 0.0713, "mte1": cube / 3, "mte2": 0.55, "mte3": 0.21}
    moved = us * 60_000
    traffic = {
        "hbm": Traffic(moved, moved / 3),
        "l2": Traffic(moved * 1.5, moved / 2),
        "l1": Traffic(moved, moved),
        "l0a": Traffic(moved * 2, moved),
        "l0b": Traffic(moved * 2, moved),
        "l0c": Traffic(moved, moved * 2),
        "ub": Traffic(moved * 1.3, moved * 0.7),
    }
    return TaskCost(
        engine="cube" if cube else "vector",
        us=us,
        n_blocks=n_blocks,
        total_cycles=cycles,
        cycles={pipe: share * cycles for pipe, share in shares.items()},
        traffic=traffic,
        flops=cube * cycles * 8192,
        bound="mte2",
        l2_hit_rate=0.375,
    )


def tensor(*shape: int, dtype: str = "float16", format: str = "NHWC") -> TensorDescription:
    return TensorDescription(shape, dtype, format)


def lenet_tasks(batch: int = 32, *, with_reduce: bool = False) -> list[DeviceTask]:
    """Forward, backward and update of a small convolutional network; the first task takes the batch on the AI CPU."""
    made = [*forward_tasks(batch), *backward_tasks(batch), *(reduce_tasks() if with_reduce else ()), *update_tasks()]
    return [replace(task, task_id=number) for number, task in enumerate(made)]


def task(name: str, op_type: str, cost: TaskCost, inputs: tuple, outputs: tuple, **rest) -> DeviceTask:
    """A task of the cores, or of what `rest` says; its number comes later."""
    members = rest.pop("members", (name,))
    return DeviceTask(
        name, op_type, rest.pop("task_type", "AI_CORE"), rest.pop("stream", 0), 0, cost, members, "", inputs, outputs
    )


def forward_tasks(batch: int) -> Iterator[DeviceTask]:
    label = tensor(batch, dtype="int32", format="ND")
    batch_of = (tensor(batch, 28, 28, 1), label)
    yield task("IteratorGetNext", "GetNext", TaskCost(engine="AI CPU", us=31.0), (), batch_of, task_type="AI_CPU")
    for layer, (side, channels) in enumerate([(28, 32), (14, 64)], start=1):
        yield from layer_tasks(f"conv{layer}/", batch, side, channels, 12.3 * layer)
    weights = (tensor(batch, 3136, format="FRACTAL_NZ"), tensor(3136, 1000, format="ND"))
    yield task("dense/MatMul", "MatMulV2", core_cost(9.41, 33, 0.5), weights, (tensor(batch, 1000, format="ND"),))
    logits = tensor(batch, 1000, dtype="float32", format="ND")
    scalar = tensor(dtype="float32", format="ND")
    yield task("loss/Softmax", "SparseSoftmaxCrossEntropyWithLogits", core_cost(5.05, 4), (logits, label), (scalar,))


def layer_tasks(prefix: str, batch: int, side: int, channels: int, us: float) -> Iterator[DeviceTask]:
    """A convolution with what is fused into it, and its pooling."""
    members = (f"{prefix}Conv2D", f"{prefix}BiasAdd", f"{prefix}Relu")
    read = (
        tensor(batch, 1, side, side, 16, format="NC1HWC0"),
        tensor(25, channels // 16, 16, 16, format="FRACTAL_Z"),
        tensor(channels, dtype="float32", format="ND"),
    )
    written = (tensor(batch, channels // 16, side, side, 16, format="NC1HWC0"),)
    yield task("".join(members), "Conv2D", core_cost(us, 32, 0.61), read, written, members=members)
    pooled = tensor(batch, side // 2, side // 2, channels)
    yield task(f"{prefix}MaxPool", "MaxPool", core_cost(7.77), (tensor(batch, side, side, channels),), (pooled,))


def backward_tasks(batch: int) -> Iterator[DeviceTask]:
    """Their six inputs are more than a raw record holds."""
    image, gradient = tensor(batch, 28, 28, 1), tensor(5, 5, 1, 32, dtype="float32", format="HWCN")
    for layer in (2, 1):
        name = f"gradients/conv{layer}/Conv2DBackpropFilter"
        yield task(name, "Conv2DBackpropFilter", core_cost(20.2 / layer, 30, 0.7), (image,) * 6, (gradient,))


def reduce_tasks() -> Iterator[DeviceTask]:
    summed = (tensor(1_000_000, dtype="float32", format="ND"),)
    for number in range(2):
        cost = TaskCost(engine="HCCL", us=40.0)
        yield task(f"HcomAllReduce_{number}", "HcomAllReduce", cost, summed, summed, task_type="COMMUNICATION", stream=1)


def update_tasks() -> Iterator[DeviceTask]:
    variable = (tensor(3136, 1000, dtype="float32", format="ND"),)
    for name in ("conv1/kernel", "conv2/kernel", "dense/kernel"):
        yield task(f"Adam/update_{name}/ApplyAdam", "ApplyAdamD", core_cost(4.44, 40), variable, variable)


def loop(tasks: list[DeviceTask], n: int, begin: float, seed: int = 0) -> list[Iteration]:
    """n iterations one after another: each task takes its cost more or less, with a gap before it."""
    draw, now, made, ended = random.Random(seed), begin, [], None
    for number in range(1, n + 1):
        runs = []
        for task in tasks:
            start = now + draw.uniform(0.3, 1.9)
            now = start + task.cost.us * draw.uniform(0.95, 1.05)
            runs.append(TaskRun(task, start, now))
        forward = next((run.start for run in runs if "conv1/Conv2D" in run.task.name), None)
        backward = max((run.end for run in runs if run.task.name.startswith("gradients/")), default=None)
        reduces = tuple((run.start, run.end) for run in runs if run.task.task_type == "COMMUNICATION")
        taken = next(((run.start, run.end) for run in runs if run.task.op_type == "GetNext"), None)
        first = forward if forward is not None else runs[0].start
        made.append(
            Iteration(
                number,
                ended if ended is not None else first,
                now,
                runs,
                (runs[0].start - 3.0, runs[0].start - 1.0),
                forward,
                backward if forward is not None else None,
                taken,
                reduces,
            )
        )
        ended = now
        now += draw.uniform(1.0, 4.0)
    return made


def lenet_run(n: int = 100, soc: str = "Ascend910A") -> DeviceRun:
    """One graph that trains for n iterations."""
    tasks = lenet_tasks()
    memory = [("conv1/MaxPool", 1_605_632, 2, 8), ("dense/MatMul", 64_000, 5, 6)]
    return DeviceRun(soc, models=[ModelRun(1, "train", tasks, (5.0, 950.0), loop(tasks, n, 1000.0), memory)])


def initializer_tasks() -> list[DeviceTask]:
    """A graph without forward and backward passes."""
    shape = (tensor(3136, 1000, dtype="float32", format="ND"),)
    names = ("conv1/kernel", "dense/kernel")
    return [
        DeviceTask(
            f"{name}/Assign", "Assign", "AI_CORE", 0, number, core_cost(3.0 + number, 8), (f"{name}/Assign",), outputs=shape
        )
        for number, name in enumerate(names)
    ]


def three_graphs(n: int = 5) -> DeviceRun:
    """An initializer, a training and an evaluation that takes turns with it. All number their streams and tasks from 0."""
    first, train = initializer_tasks(), lenet_tasks()
    evaluate = [replace(task, name=f"eval/{task.name.replace('conv', 'c')}") for task in train[1:7]]
    models = [
        ModelRun(1, "init", first, (0.0, 20.0), loop(first, 1, 30.0, 1)),
        ModelRun(2, "train", train, (60.0, 800.0), loop(train, n, 900.0, 2)),
    ]
    after = models[-1].iterations[-1].end
    models.append(ModelRun(3, "eval", evaluate, (after + 5, after + 300), loop(evaluate, n, after + 400, 3)))
    more = loop(train, n, models[-1].iterations[-1].end + 50, 4)
    more[0] = replace(more[0], start=models[1].iterations[-1].end)
    models[1].iterations += [replace(step, number=n + step.number) for step in more]
    return DeviceRun("Ascend910A", models=models)


def two_ranks(n: int = 4) -> list[DeviceRun]:
    """Two devices that add up their gradients."""
    tasks = lenet_tasks(with_reduce=True)
    return [
        DeviceRun("Ascend910A", rank, rank, [ModelRun(1, "train", tasks, (5.0, 300.0), loop(tasks, n, 400.0, rank))], 2)
        for rank in (0, 1)
    ]


def split_cores(n: int = 3) -> DeviceRun:
    """The network on a chip whose vector units are cores of their own."""
    tasks = [replace(task, task_type="AI_VECTOR_CORE") if task.cost.engine == "vector" else task for task in lenet_tasks()]
    return DeviceRun("Ascend910B1", models=[ModelRun(1, "train", tasks, (5.0, 300.0), loop(tasks, n, 400.0))])


def planted(n: int = 3) -> DeviceRun:
    """A slow AI CPU operator and a matmul whose sizes are no multiples of 16, which an adviser should name."""
    tasks = lenet_tasks()
    slow = TaskCost(engine="AI CPU", us=512.0)
    tasks.append(
        DeviceTask(
            "planted/Unique",
            "Unique",
            "AI_CPU",
            0,
            len(tasks),
            slow,
            ("planted/Unique",),
            inputs=(tensor(4096, dtype="int64", format="ND"),),
            outputs=(tensor(4096, dtype="int64", format="ND"),),
        )
    )
    tasks.append(
        DeviceTask(
            "planted/MatMul",
            "MatMulV2",
            "AI_CORE",
            0,
            len(tasks),
            core_cost(800.0, 7, cube=0.31, vector=0.0),
            ("planted/MatMul",),
            inputs=(tensor(3001, 4099, format="ND"), tensor(4099, 3003, format="ND")),
            outputs=(tensor(3001, 3003, format="ND"),),
        )
    )
    return DeviceRun("Ascend910A", models=[ModelRun(1, "train", tasks, (5.0, 300.0), loop(tasks, n, 400.0))])
