"""DTensor gives wrong arrays: shown with numpy and torch's public interface alone, on real processes over gloo.

    ~/.cache/plumbline/env/torch@2.15.0/bin/python scripts/confirm/dtensor.py

Each check says on how many ranks the answer, mostly a local tensor, differs from what numpy says, or more collectives ran
than need be (wasteful), and what the first of them has; names of checks after the script are those to run. Exit code 1
where any does.
"""

import logging
import os
import resource
import sys
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing
import torch.nn.functional as F
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DeviceMesh, DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.placement_types import _StridedShard


def flattened_gather(rank):
    """pytorch/pytorch#194457: rows split by two mesh dimensions, unevenly, gathered where both are flattened."""
    whole = np.arange(15, dtype=np.float32).reshape(5, 3)
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
    mesh["a", "b"]._flatten()  # the one underscore: flattening has no other name
    x = distribute_tensor(torch.from_numpy(whole), mesh, [Shard(0), Shard(0)])
    return x.full_tensor().numpy(), whole


def plain_gather(rank):
    """The same without the flattened mesh: right."""
    whole = np.arange(15, dtype=np.float32).reshape(5, 3)
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
    x = distribute_tensor(torch.from_numpy(whole), mesh, [Shard(0), Shard(0)])
    return x.full_tensor().numpy(), whole


def permuted_mesh(rank):
    """pytorch/pytorch#193224, #176126: a mesh whose ranks do not ascend, an array split over it and gathered."""
    whole = np.arange(4, dtype=np.float32)
    mesh = DeviceMesh("cpu", [3, 1, 0, 2])
    at = mesh.get_coordinate()[0]
    x = DTensor.from_local(torch.from_numpy(whole[at : at + 1].copy()), mesh, [Shard(0)])
    return x.redistribute(placements=[Replicate()]).to_local().numpy(), whole


def permuted_scatter(rank):
    """The same of a sum that is scattered."""
    mesh = DeviceMesh("cpu", [3, 1, 0, 2])
    at = mesh.get_coordinate()[0]
    parts = np.arange(16, dtype=np.float32).reshape(4, 4) ** 2
    x = DTensor.from_local(torch.from_numpy(parts[at].copy()), mesh, [Partial()])
    return x.redistribute(placements=[Shard(0)]).to_local().numpy(), parts.sum(0)[at : at + 1]


def strided_shards(rank):
    """Rows over the second mesh dimension, then the first, as FSDP over TP has them: the placement has no public name.
    What distribute_tensor gives a rank is what redistribute gives it, for the same placements."""
    whole = torch.arange(9, dtype=torch.float32)
    mesh = init_device_mesh("cpu", (4, 2), mesh_dim_names=("dp", "tp"))
    placed = [_StridedShard(0, split_factor=2), Shard(0)]
    made = distribute_tensor(whole, mesh, placed, src_data_rank=None)
    moved = distribute_tensor(whole, mesh, [Replicate()] * 2, src_data_rank=None).redistribute(placements=placed)
    return moved.to_local().numpy(), made.to_local().numpy()


def strided_gather(rank):
    """The same rows gathered: ranks fail at a size, others wait for them. pytorch/pytorch#170914 is of such a gather."""
    whole = np.arange(9, dtype=np.float32)
    mesh = init_device_mesh("cpu", (4, 2), mesh_dim_names=("dp", "tp"))
    placed = [_StridedShard(0, split_factor=2), Shard(0)]
    x = distribute_tensor(torch.from_numpy(whole), mesh, placed, src_data_rank=None)
    return x.full_tensor().numpy(), whole


def flattened_sum(rank):
    """pytorch/pytorch#171913: parts over three mesh dimensions that are flattened: how many collectives add them up."""
    mesh = init_device_mesh("cpu", (2, 2, 2), mesh_dim_names=("a", "b", "c"))
    for dims in ("a", "b"), ("b", "c"), ("a", "b", "c"):
        mesh[dims]._flatten()
    x = DTensor.from_local(torch.ones(4), mesh, [Partial()] * 3)
    with CommDebugMode() as seen:
        x.redistribute(placements=[Replicate()] * 3)
    return np.array(seen.get_total_counts()), np.array(1)


def turned_slice(rank):
    """A slice of a mesh with its dimensions in another order, as the documentation of DeviceMesh has it."""
    mesh = init_device_mesh("cpu", (2, 2, 2), mesh_dim_names=("pp", "dp", "cp"))
    try:
        return np.array(mesh["cp", "dp"].mesh.shape), np.array([2, 2])
    except KeyError as e:
        return np.array(str(e)), np.array("a mesh")


def flattened_product(rank):
    """Two contracted dimensions, which einsum flattens, over three mesh dimensions: 60 seconds of a processor are not
    enough to find out how the product is sharded. pytorch/pytorch#177799 tries all strategies for strided shards."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 70))
    mesh = init_device_mesh("cpu", (2, 1, 1), mesh_dim_names=("a", "b", "c"))
    x, y = np.arange(256, dtype=np.float32).reshape(8, 4, 8), np.arange(128, dtype=np.float32).reshape(8, 4, 4) % 7
    split = [distribute_tensor(torch.from_numpy(t), mesh, [Shard(0), Shard(0), Shard(1)]) for t in (x, y)]
    return torch.einsum("bsh,bsf->hf", *split).full_tensor().numpy(), np.einsum("bsh,bsf->hf", x, y)


def strided(whole, dim):
    """An array split by three mesh dimensions of which the first cuts last: three axes in the order 1, 2, 0."""
    mesh = init_device_mesh("cpu", (2, 2, 2), mesh_dim_names=("a", "b", "c"))
    placed = [_StridedShard(dim, split_factor=4), Shard(dim), Shard(dim)]
    return distribute_tensor(torch.from_numpy(whole), mesh, placed, src_data_rank=None)


def strided_columns(rank):
    """Five columns, split so and gathered again: one is lost. pytorch/pytorch#170914 is of two axes, and mended."""
    whole = np.arange(45, dtype=np.float32).reshape(9, 5)
    return strided(whole, 1).full_tensor().numpy(), whole


def strided_rows(rank):
    """Nine rows, split so, moved to plain shards: the ranks disagree on sizes, and gloo ends a process."""
    whole = np.arange(45, dtype=np.float32).reshape(9, 5)
    x = strided(whole, 0).redistribute(placements=[Shard(0)] * 3)
    want = distribute_tensor(torch.from_numpy(whole), x.device_mesh, x.placements, src_data_rank=None)
    return x.to_local().numpy(), want.to_local().numpy()


def strided_product(rank):
    """Two letters contracted, of which a weight's first is split by tensor parallelism and then by FSDP2: einsum flattens them,
    and what a rank holds is not what its placements say afterwards."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    x, w = np.arange(64, dtype=np.float32).reshape(4, 4, 4), np.arange(64, dtype=np.float32).reshape(4, 4, 4) % 7
    whole = distribute_tensor(torch.from_numpy(x), mesh, [Replicate()] * 2, src_data_rank=None)
    split = distribute_tensor(torch.from_numpy(w), mesh, [_StridedShard(0, split_factor=2), Shard(0)], src_data_rank=None)
    assert np.array_equal(split.full_tensor().numpy(), w)
    return torch.einsum("mab,ban->mn", whole, split).full_tensor().numpy(), np.einsum("mab,ban->mn", x, w)


def plain_product(rank):
    """The same split in the order of the mesh: right."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    x, w = np.arange(64, dtype=np.float32).reshape(4, 4, 4), np.arange(64, dtype=np.float32).reshape(4, 4, 4) % 7
    whole = distribute_tensor(torch.from_numpy(x), mesh, [Replicate()] * 2, src_data_rank=None)
    split = distribute_tensor(torch.from_numpy(w), mesh, [Shard(0)] * 2, src_data_rank=None)
    return torch.einsum("mab,ban->mn", whole, split).full_tensor().numpy(), np.einsum("mab,ban->mn", x, w)


def dense(of_x, of_w):
    """A dense layer of two letters that are kept, of which the second is split by both axes of the mesh."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    x, w = np.arange(64, dtype=np.float32).reshape(4, 4, 4), np.arange(16, dtype=np.float32).reshape(4, 4) % 7
    split = [distribute_tensor(torch.from_numpy(t), mesh, placed, src_data_rank=None) for t, placed in ((x, of_x), (w, of_w))]
    return torch.einsum("bsk,kn->bsn", *split).full_tensor().numpy(), np.einsum("bsk,kn->bsn", x, w)


def strided_dense(rank):
    """By tensor parallelism, then by data parallelism: einsum asks its own result for a shape that it has not."""
    return dense([_StridedShard(1, split_factor=2), Shard(1)], [Shard(0)] * 2)


def plain_dense(rank):
    """In the order of the mesh: refused, when it runs."""
    return dense([Shard(1)] * 2, [Replicate()] * 2)


def compiled_dense(rank):
    """The rows of a batch split by one axis of two, compiled: pytorch/torchtitan#3409 is of a view of such a shard. As it stands the
    product is right, and once it has run so torch.compile has it right too: what it asks is remembered."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    x, w = np.arange(64, dtype=np.float32).reshape(4, 4, 4), np.arange(16, dtype=np.float32).reshape(4, 4) % 7
    split = [distribute_tensor(torch.from_numpy(t), mesh, placed, src_data_rank=None)
             for t, placed in ((x, [Shard(1), Replicate()]), (w, [Replicate()] * 2))]
    want = np.einsum("bsk,kn->bsn", x, w)
    product = lambda a, b: torch.einsum("bsk,kn->bsn", a, b)
    try:
        return torch.compile(product, backend="aot_eager", fullgraph=True)(*split).full_tensor().numpy(), want
    except torch._dynamo.exc.InternalTorchDynamoError as e:
        assert np.array_equal(product(*split).full_tensor().numpy(), want)
        return np.array(str(e)[:100]), want


class Rows(torch.nn.Module):
    """A weight of nine rows that tensor parallelism splits; FSDP2 splits it again."""

    def __init__(self, dp, tp):
        super().__init__()
        self.whole = np.arange(36, dtype=np.float32).reshape(9, 4)
        self.mesh = init_device_mesh("cpu", (dp, tp), mesh_dim_names=("dp", "tp"))
        split = distribute_tensor(torch.from_numpy(self.whole), self.mesh["tp"], [Shard(0)])
        self.weight = torch.nn.Parameter(split)
        fully_shard(self, mesh=self.mesh["dp"])

    def forward(self, x):
        return (self.weight * x).sum()


def checkpoint_of_fsdp(rank):
    """FSDP2's own weight saved and loaded into a replicated one: strided shards, uneven, are taken for one box each."""
    rows = Rows(4, 2)
    into = distribute_tensor(torch.zeros(9, 4), rows.mesh, [Replicate()] * 2, src_data_rank=None)
    folder = os.path.join(tempfile.gettempdir(), f"confirm-{os.getppid()}")
    try:
        dcp.save({"w": rows.weight}, checkpoint_id=folder)
        dcp.load({"w": into}, checkpoint_id=folder)
    except CheckpointException as e:
        return np.array(str(e).strip().splitlines()[-1]), rows.whole
    return into.to_local().numpy(), rows.whole


def gradient_of_fsdp(rank):
    """The gradient of a weight of which tensor parallelism leaves the last rank no row: torch.chunk cuts 9 by 4 into 3, 3, 3."""
    rows = Rows(2, 4)
    ones = distribute_tensor(torch.ones(9, 4), rows.mesh["tp"], [Shard(0)], src_data_rank=None)
    try:
        rows(ones).backward()
    except RuntimeError as e:
        return np.array(str(e)), np.array("a gradient")
    return rows.weight.grad.to_local().numpy() * 0 + 1, np.ones(rows.weight.grad.to_local().shape, np.float32)


def grouped_rows(rank):
    """The gradient of a grouped product by its weights, of four rows a half: the rows are gathered, and lie otherwise then than
    when grouped_mm was asked whether it takes them. One process has it right."""
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("a",))
    x, y = np.arange(32, dtype=np.float32).reshape(4, 8) % 5, np.arange(32, dtype=np.float32).reshape(4, 8) % 7
    offs = torch.tensor([3, 4], dtype=torch.int32)
    alone = [torch.from_numpy(t).bfloat16() for t in (x, y)]
    want = np.stack([x[:3].T @ y[:3], x[3:].T @ y[3:]])
    assert np.array_equal(F.grouped_mm(alone[0].t(), alone[1], offs=offs).float().numpy(), want)
    x, y = (distribute_tensor(t, mesh, [Shard(0)], src_data_rank=None) for t in alone)
    offs = distribute_tensor(offs, mesh, [Replicate()], src_data_rank=None)
    try:
        return F.grouped_mm(x.t(), y, offs=offs).full_tensor().float().numpy(), want
    except RuntimeError as e:
        return np.array(str(e)), want


def grouped_gather(rank):
    """The same of rows that are taken: both operands are gathered, where each half has its products and a sum would do."""
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("a",))
    x, y = (distribute_tensor(torch.ones(16, 8).bfloat16(), mesh, [Shard(0)], src_data_rank=None) for _ in range(2))
    offs = distribute_tensor(torch.tensor([11, 16], dtype=torch.int32), mesh, [Replicate()], src_data_rank=None)
    with CommDebugMode() as seen:
        F.grouped_mm(x.t(), y, offs=offs)
    gathers = sum(n for kind, n in seen.get_comm_counts().items() if "all_gather" in str(kind))
    return np.array(f"{gathers} gathers"), np.array("0 gathers")


CHECKS = [(flattened_gather, 4), (plain_gather, 4), (permuted_mesh, 4), (permuted_scatter, 4), (strided_shards, 8),
          (strided_gather, 8), (flattened_sum, 8), (turned_slice, 8), (strided_columns, 8), (strided_rows, 8),
          (flattened_product, 2), (strided_product, 4), (plain_product, 4), (strided_dense, 4), (plain_dense, 4),
          (compiled_dense, 4), (checkpoint_of_fsdp, 8), (gradient_of_fsdp, 8), (grouped_rows, 2), (grouped_gather, 2)]
WASTE = {flattened_sum, grouped_gather}  # counts of collectives; the arrays are right


def main(rank, check, ranks, store, answers):
    torch.set_num_threads(1)
    logging.getLogger("torch").setLevel(logging.ERROR)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    got, want = CHECKS[check][0](rank)
    answers[rank] = "" if np.array_equal(got, want) else str(got.tolist())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    print(f"torch {torch.__version__}, numpy {np.__version__}")
    failed = False
    for i, (check, ranks) in enumerate(CHECKS):
        if sys.argv[1:] and check.__name__ not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as folder, torch.multiprocessing.Manager() as manager:
            answers, died = manager.dict(), ""
            try:
                given = i, ranks, os.path.join(folder, "store"), answers
                torch.multiprocessing.start_processes(main, given, ranks, start_method="fork")
            except (torch.multiprocessing.ProcessExitedException, torch.multiprocessing.ProcessRaisedException) as e:
                died = str(e).strip().splitlines()[-1]
            wrong = [a for _, a in sorted(answers.items()) if a]
        failed |= bool(wrong or died)
        said = died or f"{len(wrong)} of {ranks} ranks {'wasteful' if check in WASTE else 'wrong'}{': ' + wrong[0] if wrong else ''}"
        print(f"{check.__name__}: {said}", flush=True)
    sys.exit(failed)
