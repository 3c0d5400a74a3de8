"""The graph of a training step as TensorBoard shows it: of the step alone, not of the loop."""

import tensorflow as tf

_LOOP = "while/cond/"  # in the names of all that the loop around the step traces in it


def of_step(graph: tf.Graph) -> tf.compat.v1.GraphDef:
    """Return the operations of a traced step, by the names that they have without the loop."""
    found = graph.as_graph_def()
    for node in found.node:
        node.name = node.name.replace(_LOOP, "")
        node.input[:] = [name.replace(_LOOP, "") for name in node.input]
    return found
