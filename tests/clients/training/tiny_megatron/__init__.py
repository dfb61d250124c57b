"""A tiny GPT of megatron-core 0.16, with or without Transformer Engine: microbatches through its schedules, its optimizer, its
graphs."""
import os
import sys


def train(graphs, pipeline=1, tensor=1, experts=0, engine=False, steps=3, microbatches=4, length=64, layers=4, hidden=256):
    """`graphs`: "local", a graph for each layer and microbatch; "transformer_engine", the same by its make_graphed_callables; or
    "full", one for the whole iteration. `engine`: the layers are Transformer Engine's."""
    if not engine:
        sys.modules["transformer_engine"] = None  # it isn't looked for
    import torch
    import torch.distributed as dist

    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(20000 + os.getpid() % 20000))
    os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "1")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    torch.cuda.set_device(device)
    # Object collectives read lengths, which NCCL's stand-in doesn't exchange: they need a backend for the CPU.
    dist.init_process_group("cpu:gloo,cuda:nccl", rank=rank, world_size=world, device_id=device)
    from megatron.core import parallel_state
    from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig, finalize_model_grads
    from megatron.core.full_cuda_graph import FullCudaGraphWrapper
    from megatron.core.models.gpt import GPTModel
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec, get_gpt_layer_with_transformer_engine_spec
    from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
    from megatron.core.pipeline_parallel import get_forward_backward_func
    from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
    from megatron.core.transformer import TransformerConfig
    from megatron.core.transformer.moe import moe_utils

    moe_utils.te_general_gemm = getattr(moe_utils, "te_general_gemm", None)  # 0.16.1 has no such name without TE
    parallel_state.initialize_model_parallel(tensor, pipeline)
    model_parallel_cuda_manual_seed(1, te_rng_tracker=engine, use_cudagraphable_rng=not engine)
    more = {"cuda_graph_impl": "local" if graphs == "full" else graphs}
    if graphs == "full":
        more["cuda_graph_scope"] = ["full_iteration"]
    if experts:  # padded: without that, the sizes of its buffers are a kernel's values
        more |= {"num_moe_experts": experts, "moe_router_topk": 2, "moe_token_dispatcher_type": "alltoall",
                 "moe_router_load_balancing_type": "none", "moe_ffn_hidden_size": hidden, "add_bias_linear": False,
                 "moe_expert_capacity_factor": 1.0, "moe_pad_expert_input_to_capacity": True}
    config = TransformerConfig(
        num_layers=layers, hidden_size=hidden, num_attention_heads=8, tensor_model_parallel_size=tensor,
        pipeline_model_parallel_size=pipeline, bf16=True, params_dtype=torch.bfloat16, pipeline_dtype=torch.bfloat16,
        hidden_dropout=0.0, attention_dropout=0.0, cuda_graph_warmup_steps=1, batch_p2p_sync=False, **more)
    spec = get_gpt_layer_with_transformer_engine_spec if engine else get_gpt_layer_local_spec
    model = GPTModel(
        config=config, transformer_layer_spec=spec(num_experts=experts or None, moe_grouped_gemm=False), vocab_size=512,
        max_sequence_length=length, position_embedding_type="rope",
        pre_process=parallel_state.is_pipeline_first_stage(), post_process=parallel_state.is_pipeline_last_stage())
    model = DistributedDataParallel(config, DistributedDataParallelConfig(grad_reduce_in_fp32=True, overlap_grad_reduce=False),
                                    model.cuda().bfloat16())
    optimizer = get_megatron_optimizer(OptimizerConfig(optimizer="adam", lr=1e-3, bf16=True, clip_grad=1.0), [model])
    config.finalize_model_grads_func, config.grad_scale_func = finalize_model_grads, optimizer.scale_loss

    def batches():
        while True:
            tokens = torch.randint(0, 512, (2, length + 1)).cuda()
            yield {"tokens": tokens[:, :-1].contiguous(), "labels": tokens[:, 1:].contiguous(),
                   "position_ids": torch.arange(length, device="cuda").repeat(2, 1)}

    def loss_of(out):
        loss = out.float().mean()
        return loss, {"loss": loss.detach()}

    def forward(iterator, part):
        batch = next(iterator)
        return part(batch["tokens"], batch["position_ids"], None, labels=batch["labels"]), loss_of

    schedule = get_forward_backward_func()
    if graphs == "full":
        schedule = FullCudaGraphWrapper(schedule, cuda_graph_warmup_steps=1)
    data = batches()
    for number in range(steps):
        if graphs == "transformer_engine" and number == 1:
            from megatron.core.num_microbatches_calculator import init_num_microbatches_calculator
            from megatron.core.transformer.cuda_graphs import TECudaGraphHelper

            # The gradients' nodes, which data parallelism holds, are of the default stream, on which the first step ran.
            torch.autograd.graph.set_override_stale_capture_stream(True)
            init_num_microbatches_calculator(rank, None, 2 * microbatches, 2, 1)
            TECudaGraphHelper([model], config, length, 2, [optimizer]).create_cudagraphs()
        model.zero_grad_buffer()
        optimizer.zero_grad()
        schedule(forward_step_func=forward, data_iterator=data, model=[model] if graphs == "full" else model,
                 num_microbatches=microbatches, seq_length=length, micro_batch_size=2, forward_only=False)
        optimizer.step()
    torch.cuda.synchronize()
    dist.destroy_process_group()
