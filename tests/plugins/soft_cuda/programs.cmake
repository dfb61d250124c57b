# The conformance programs: <name>.cu each. The inventory counts what they check, so the plugin's build reads them.
set(soft_programs
  capture capture_errors conditional copy copy_more cupti device driver_memory driver_stream entry event execution
  exec_params exec_update graph graph_dot graph_driver graph_memory graph_nodes launch memory pool programmatic range
  semaphore settings stream user_object)
# Those that are also built with --default-stream per-thread.
set(soft_per_thread_programs capture copy copy_more event exec_update memory pool range stream)
