"""Every fault that a job can meet: how each task ends, in how many seconds, and what is said of it.

All with stall_seconds=5, and wait_seconds=2 before the strategy is built. See `Row`.
"""

from tests.faults.row import Row
from tests.faults.scripts import MEET, TRAIN, TRAIN_AND_CONNECT_BADLY, TRAIN_AND_FILL_THE_DISK

TWO = {"workers": 2}
WITH_PS = {"chief": True, "workers": 2, "ps": 1}

# fmt: off
TABLE = [
    # Before the strategy is built.
    Row("peer never started", TWO, "before = lambda port: rank and sys.exit()" + MEET, 8, {"worker 0": 75, "worker 1": 0}, r"worker 0 waited 2 s in vain for worker 1 at .* \(refused, not started\); start"),
    Row("busy port", TWO, "before = lambda port: rank and socket.create_server(('', port))" + MEET, 8, {"worker 0": 75, "worker 1": 75}, r"worker 1 cannot use its port \d+: process \d+ of .* has it|worker 0 waited 2 s in vain for worker 1 at "),
    Row("other TensorFlow flags", TWO, "os.environ['TF_ENABLE_ONEDNN_OPTS'] = str(rank)" + TRAIN, 60, {"worker 0": 2, "worker 1": 2}, r"flags.TF_ENABLE_ONEDNN_OPTS is \"0\" on worker 0 and \"1\" on worker 1; start every task"),
    Row("kill -9 of a worker as TensorFlow connects", TWO, "accident = lambda port: os.kill(os.getpid(), 9)" + TRAIN_AND_CONNECT_BADLY, 60, {"worker 0": 75, "worker 1": -9}, r"worker 1 at .* is lost: .*; start the job again"),
    Row("port taken as TensorFlow connects", TWO, "import socket; accident = lambda port: globals().update(held=socket.create_server(('', port)))" + TRAIN_AND_CONNECT_BADLY, 60, {"worker 0": 75, "worker 1": 75}, r"worker 1 at .* could not open its port, which another program has taken meanwhile; start"),
    # Before the first step.
    Row("another model", TWO, "units = 12 if rank else 16" + TRAIN, 60, {"worker 0": 2, "worker 1": 2}, r"variable 1 is kernel \(8, 16\) float32 on worker 0 and kernel \(8, 12\) float32 on worker 1"),
    Row("another call of fit", TWO, "epochs = 3 if rank else 4" + TRAIN, 60, {"worker 0": 2, "worker 1": 2}, r"fit.epochs is 4 on worker 0 and 3 on worker 1: start every task with the same script"),
    Row("SIGSTOP of a ps as variables are made", WITH_PS, "def before_variables():\n    print('epoch 2', flush=True)\n    time.sleep(2)" + TRAIN, 20, {"chief 0": 75, "worker 0": 75, "worker 1": 75, "ps 0": None}, r"ps 0 has been silent for \d+ s(, last heard when it serves)?; it is stopped", stop="ps 0"),
    # In the middle of training.
    Row("kill -9 of a worker", TWO, TRAIN, 12, {"worker 0": 75, "worker 1": -9}, r"worker 1 at .* is lost: .*; start the job again", kill="worker 1"),
    Row("kill -9 of the chief", TWO, TRAIN, 12, {"worker 0": -9, "worker 1": 75}, r"worker 0 at .* is lost: .*; start the job again", kill="worker 0"),
    Row("kill -9 of a ps", WITH_PS, TRAIN, 20, {"chief 0": 75, "worker 0": 75, "worker 1": 75, "ps 0": -9}, r"ps 0 at .* is lost: |ends with code 75: the chief is gone", kill="ps 0"),
    Row("SIGSTOP of a worker", TWO, TRAIN, 12, {"worker 0": 75, "worker 1": None}, r"worker 1 has been silent for \d+ s, last heard when it .* at .* of epoch \d+; it is stopped", stop="worker 1"),
    Row("SIGSTOP of the chief", TWO, TRAIN, 12, {"worker 0": None, "worker 1": 75}, r"worker 0 has been silent for \d+ s, last heard when it .* at .* of epoch \d+; it is stopped", stop="worker 0"),
    Row("SIGSTOP of a ps", WITH_PS, TRAIN, 12, {"chief 0": 75, "worker 0": 75, "worker 1": 75, "ps 0": None}, r"ps 0 has been silent for \d+ s, last heard when it serves; it is stopped", stop="ps 0"),
    Row("SIGSTOP of a worker of a ps", WITH_PS, TRAIN, 20, {"chief 0": 75, "worker 0": 75, "worker 1": None, "ps 0": 75}, r"worker 1 has been silent for \d+ s, last heard when it serves; it is stopped", stop="worker 1"),
    Row("link down", TWO, TRAIN, 12, {"worker 0": 75, "worker 1": 75}, r"worker [01] has been silent for \d+ s, last heard when it .*; it is stopped, or its host, or the network", cut="worker 1"),
    Row("exception on one task", TWO, "def at_epoch_end(epoch): assert not rank or epoch < 3, 'mine'" + TRAIN, 12, {"worker 0": 75, "worker 1": 1}, r"worker 1 at .* has failed: AssertionError: mine"),
    Row("mistake in a graph on one task", TWO, "def in_graph():\n    if rank: raise tfdist.UsageError('mine')" + TRAIN, 60, {"worker 0": 75, "worker 1": 2}, r"(?m)worker 1 at .* has failed: UsageError: mine|^mine$"),
    Row("early return of one task", TWO, "def at_epoch_end(epoch):\n    if rank and epoch == 3: sys.exit()" + TRAIN, 12, {"worker 0": 75, "worker 1": 0}, r"worker 1 has ended before the others: worker 0 has waited \d+ s for it"),
    Row("less data on one task", TWO, "examples = 60 if rank else 64" + TRAIN, 60, {"worker 0": 75, "worker 1": 75}, r"worker 0: trains at step \d+ of epoch 1; worker 1: .* at the end of its data, step 15 of epoch 1\)"),
    Row("disk full on the chief's host", TWO, TRAIN_AND_FILL_THE_DISK, 20, {"worker 0": 2, "worker 1": 75}, r"checkpoint .* could not be written \(No space left on device\); the last whole one is /", needs_disk=True),
]
# fmt: on
