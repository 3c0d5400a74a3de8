"""What a run says when it starts: one short block on the chief, one line on every other task."""

from collections.abc import Iterator

import keras

import tfdist
from tfdist.cluster import Cluster, processor
from tfdist.data.ledger import Ledger
from tfdist.factory import Context
from tfdist.factory.obstacles import counted
from tfdist.progress.look import learning_rate
from tfdist.run.settings import Settings


def start(settings: Settings, context: Context, account: Ledger, model: keras.Model) -> str:
    """Return what this task says, with its line ends."""
    cluster = context.cluster
    if not cluster.is_chief:
        return (
            f"tfdist: {cluster.task} trains, rank {cluster.rank} of {cluster.num_workers}; "
            f"the chief is {cluster.chief}\n"
        )
    lines = [
        ("cluster", _cluster(cluster)),
        *(("", note) for note in cluster.notes),
        ("strategy", f"{context.choice.name}, because {context.choice.reason}"),
        ("replicas", _replicas(context)),
        ("batch", ", ".join(_batch(account))),
        ("model", f"{settings.model}, {model.count_params():,} parameters, {settings.precision}"),
        ("optimizer", _optimizer(settings, context, model)),
        *_exchange(settings, context),
        ("seed", str(context.seed)),
        ("settings", _settings()),
    ]
    block = "".join(f"  {name:<10} {text}\n" for name, text in lines)
    return f"tfdist {tfdist.__version__}\n{block}"


def _settings() -> str:
    made = processor.set_defaults() | {"cores": processor.cores()}
    return " ".join(f"{name}={value}" for name, value in made.items())


def _cluster(cluster: Cluster) -> str:
    if cluster.is_local:
        return "this machine alone"
    nouns = {"ps": "ps task"}
    jobs = [counted(len(tasks), nouns.get(job, job)) for job, tasks in cluster.jobs.items()]
    return f"{', '.join(jobs)}, from {cluster.source}; this is {cluster.task}"


def _replicas(context: Context) -> str:
    here = f"{context.num_replicas}, on {context.devices}"
    workers = context.num_workers
    return f"{here} in each of {workers} workers" if workers > 1 else here


def _batch(account: Ledger) -> Iterator[str]:
    if account.declared:
        yield "each worker has its own"
    else:
        yield f"{account.global_batch} examples ({account.per_replica} on a replica)"
    yield f"{_known(account.steps_per_epoch)} steps an epoch"
    yield f"{_known(account.examples)} examples"
    yield "none dropped" if account.dropped == 0 else f"{_known(account.dropped)} left out an epoch"


def _optimizer(settings: Settings, context: Context, model: keras.Model) -> str:
    said = f"{optimizer_name(model)}, learning rate {learning_rate(model):g}"
    if settings.lr_scaling != "none":
        said += f", {settings.lr_scaling} in {context.num_replicas} replicas"
    if settings.warmup_steps:
        said += f", rising for {settings.warmup_steps} steps"
    if settings.accumulate_steps > 1:
        said += f", an update every {settings.accumulate_steps} steps"
    return said


def _exchange(settings: Settings, context: Context) -> Iterator[tuple[str, str]]:
    if context.road is not None:
        bits = "" if context.compression == "none" else f"; gradients as {context.compression}"
        period = settings.sync_period
        apart = f"; weights averaged every {counted(period, 'step')}" if period else ""
        yield "exchange", f"{context.road}{bits}{apart}"
    elif idle := _idle(settings):
        how = f"no gradients between workers under {context.choice.name}"
        yield "exchange", f"{how}, so without effect: {' '.join(idle)}"


def _idle(settings: Settings) -> list[str]:
    """The flags that say how gradients travel."""
    usual = {"transport": "auto", "compression": "none", "sync": "every_step"}
    given = {name: getattr(settings, name) for name in usual}
    return [f"--{name}={value}" for name, value in given.items() if value != usual[name]]


def _known(number: int | None) -> str:
    return "an unknown number of" if number is None else f"{number:,}"


def optimizer_name(model: keras.Model) -> str:
    """The optimizer's name, also where one that scales the loss is wrapped around it."""
    return getattr(model.optimizer, "inner_optimizer", model.optimizer).name
