"""From the flags of a training to what it will hold; nothing is trained."""

from __future__ import annotations

from typing import Any

import keras
import psutil
import tensorflow as tf

import tfdist
from tfdist.cluster import Cluster
from tfdist.data import Source, load
from tfdist.data.batches import batches
from tfdist.data.streamed import buffered, example_bytes
from tfdist.diagnosis.memory import tasks_here, this_host
from tfdist.factory import plan
from tfdist.factory.devices import Devices
from tfdist.factory.failures import translated
from tfdist.memory.report import Report
from tfdist.memory.room import Room, most_rows
from tfdist.memory.settings import EstimateSettings
from tfdist.memory.step import Step, line
from tfdist.memory.tasks import STRATEGIES, Shape, tasks
from tfdist.memory.trace import of_graph
from tfdist.run.job import model_of
from tfdist.training.engine import Engine

_TASKS = 2  # of a job with several tasks, where no cluster says how many
_OWN = "gradient_tape/"  # what TensorFlow calls the operations that compute gradients


def run(settings: EstimateSettings, cluster: Cluster) -> Report:
    """Estimate what each task of this cluster, or of one like it, would hold."""
    planned = plan(settings.strategy, settings.devices, cluster=cluster)
    devices, chosen = planned.devices, planned.choice.name
    shape = Shape(
        devices=devices.count,
        of_worker=devices.count if devices.kind == "GPU" else 1,  # which do not split the CPU
        workers=_TASKS if cluster.is_local else cluster.num_workers,
        ps=cluster.num_ps or 1,
    )

    def rows(name: str) -> int:
        return settings.batch_size_per_replica or shape.rows(name, settings.global_batch(1))

    with translated():
        strategy = tfdist.strategy("one_device", "cpu", cluster=Cluster(), seed=settings.seed)
        process = psutil.Process().memory_info().rss
        unknown: list[str] = []
        step = _step(settings, strategy, rows(chosen), unknown)
    room = _room(devices, cluster, process)
    return Report(
        model=settings.model,
        strategy=chosen,
        process=process,
        room=room,
        tasks=[t for name in STRATEGIES for t in tasks(step, name, rows(name), shape)],
        largest={name: most_rows(step, name, room, shape) for name in STRATEGIES},
        unknown=sorted(set(unknown)),
        is_compiled=settings.jit == "on",
    )


def _room(devices: Devices, cluster: Cluster, process: float) -> Room:
    """What is free for one task, beside TensorFlow itself, which this process already holds."""
    here = tasks_here(cluster)
    others = (here - 1) * process
    host = max(0.0, this_host().free_bytes - others) / here
    return Room(host, devices.bytes_per_device if devices.kind == "GPU" else None)


def _step(
    settings: EstimateSettings, strategy: tf.distribute.Strategy, rows: int, unknown: list[str]
) -> Step:
    keras.config.set_dtype_policy(settings.precision)
    source = load(settings.dataset, settings.data_dir, settings.reading())
    model = model_of(settings, source, strategy)
    engine = Engine(model, strategy)
    spec = _spec(settings, source)
    held = [(n, *_held(engine, _of_rows(spec, n), unknown)) for n in (rows, 2 * rows)]
    activations, gradients, batch = (
        line(*((each[0], each[i]) for each in held)) for i in (1, 2, 3)
    )
    apart = [(n, *_apart(engine, _of_rows(spec, n), unknown)) for n in (rows, 2 * rows)]
    variables = [_bytes(v) for v in model.variables]
    return Step(
        variables=sum(variables),
        slots=sum(_bytes(v) for v in model.optimizer.variables),
        weights=sum(_bytes(v) for v in model.trainable_variables),
        largest=max(variables, default=0),
        activations=activations,
        gradients=gradients,
        batch=batch,
        read=line(*(each[:2] for each in apart)),
        update=apart[0][2],
        **_input(settings, source),
    )


def _held(engine: Engine, spec: Any, unknown: list[str]) -> tuple[float, float, float]:
    """Return the bytes of activations, gradients and batch at the peak of a step."""
    found = of_graph(engine.graph(spec), unknown)
    gradients = sum(size for name, size in found.held.items() if name.startswith(_OWN))
    leaves = tf.nest.flatten(spec)
    batch = sum(t.shape.num_elements() * t.dtype.size for t in leaves)
    return found.total_bytes - gradients, gradients, batch


def _apart(engine: Engine, spec: Any, unknown: list[str]) -> tuple[float, float]:
    """Return the bytes at the peak of a worker, and of its ps tasks' update, apart."""
    computing, writing = engine.graphs_apart(spec)
    return (
        of_graph(computing, unknown, away=True).total_bytes,
        of_graph(writing, unknown).total_bytes,
    )


def _input(settings: EstimateSettings, source: Source) -> dict[str, Any]:
    if source.train_reader is not None:
        return {"reads_all": source.train_reader.may_lose}
    kept = buffered(source.train, source.train_examples) if settings.shuffle else 0
    return {"reads_all": True, "shuffled": kept * example_bytes(source.train)}


def _spec(settings: EstimateSettings, source: Source) -> Any:
    order = settings.in_order(1, settings.seed, goes_on=True)
    return batches(source, order, settings.augment(settings.seed)).element_spec


def _of_rows(spec: Any, rows: int) -> Any:
    return tf.nest.map_structure(
        lambda leaf: tf.TensorSpec((rows, *leaf.shape[1:]), leaf.dtype), spec
    )


def _bytes(variable: keras.Variable) -> int:
    return int(tf.TensorShape(variable.shape).num_elements()) * tf.as_dtype(variable.dtype).size
