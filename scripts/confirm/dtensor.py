"""DTensor gives wrong arrays: shown with numpy and torch's public interface alone, on real processes over gloo.

    ~/.cache/plumbline/env/torch@2.15.0/bin/python scripts/confirm/dtensor.py

Each check says on how many ranks the local tensor differs from the piece of the numpy array that it is. Exit code 1
where any does.
"""

import os
import sys
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.distributed.tensor import DeviceMesh, DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh
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


CHECKS = [(flattened_gather, 4), (plain_gather, 4), (permuted_mesh, 4), (permuted_scatter, 4), (strided_shards, 8)]


def main(rank, check, ranks, store, answers):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    got, want = CHECKS[check][0](rank)
    answers[rank] = "right" if np.array_equal(got, want) else f"wrong: {got.tolist()}"
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    print(f"torch {torch.__version__}, numpy {np.__version__}")
    failed = False
    for i, (check, ranks) in enumerate(CHECKS):
        with tempfile.TemporaryDirectory() as folder, torch.multiprocessing.Manager() as manager:
            answers = manager.dict()
            torch.multiprocessing.spawn(main, (i, ranks, os.path.join(folder, "store"), answers), ranks)
            wrong = [a for _, a in sorted(answers.items()) if a != "right"]
        failed |= bool(wrong)
        print(f"{check.__name__}: {len(wrong)} of {ranks} ranks {'wrong, the first ' + wrong[0] if wrong else 'wrong'}")
    sys.exit(failed)
