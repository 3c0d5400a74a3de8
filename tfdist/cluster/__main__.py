"""Print the cluster that this process finds itself in, as the JSON of TF_CONFIG."""

import sys
from collections.abc import Iterator

from tfdist.arguments import Parser
from tfdist.cluster import Cluster, resolve
from tfdist.errors import EXIT_DONE, EXIT_USAGE, UsageError


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the JSON goes to standard output, where it came from to standard error."""
    parser = Parser(prog="python -m tfdist.cluster", description=__doc__)
    parser.add_argument(
        "--print",
        action="store_true",
        required=True,
        help="print the cluster as TF_CONFIG, and on standard error where each part came from",
    )
    try:
        parser.parse_args(arguments)
        cluster = resolve()
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_USAGE
    sys.stdout.write(cluster.tf_config() + "\n")
    sys.stderr.writelines(f"{line}\n" for line in explain(cluster))
    return EXIT_DONE


def explain(cluster: Cluster) -> Iterator[str]:
    """One line for each part of `cluster`: what it is and where it came from."""
    if cluster.is_local:
        yield f"this machine alone: {cluster.origins.get('cluster', 'nothing describes a cluster')}"
        return
    yield f"this process is {cluster.task}, {_role(cluster)}"
    for part, origin in cluster.origins.items():
        yield f"{part} from {origin}"
    yield from cluster.notes


def _role(cluster: Cluster) -> str:
    if cluster.is_evaluator:
        return "which evaluates beside the training"
    if cluster.serves_only:
        return f"which serves {cluster.chief}"
    if cluster.is_chief and cluster.has_ps:
        return f"which coordinates {cluster.num_workers} workers and {cluster.num_ps} ps"
    chief = "the chief, " if cluster.is_chief else ""
    return f"{chief}rank {cluster.rank} of {cluster.num_workers} that train"


if __name__ == "__main__":
    sys.exit(main())
