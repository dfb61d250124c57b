# The conformance programs: <name>.cu each. The inventory counts what they check, so the plugin's build reads them.
set(soft_programs
  array array_copy bank_size capture capture_errors capture_modes conditional copy copy_more cupti device
  driver_array driver_capture driver_context driver_copy driver_device driver_entry driver_execs driver_launch
  driver_memory driver_module driver_nodes driver_stream entry event exec_params exec_update execution graph
  graph_array graph_dot graph_driver graph_edges graph_memory graph_nodes launch library memory pool pool_share
  programmatic range semaphore settings stream user_object virtual_memory)
# Those that are also built with --default-stream per-thread.
set(soft_per_thread_programs
  array_copy capture copy copy_more driver_array driver_capture driver_copy driver_execs driver_launch
  driver_memory driver_stream entry event exec_update launch memory pool range semaphore stream)
