# environment: HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_USE_FLASHINFER_SAMPLER=0 VLLM_ENABLE_V1_MULTIPROCESSING=0
# graphkit: nothing
"""vLLM's sleep mode, both levels: memory is unmapped and mapped again at its address. It looks up the CUDA runtime in
/proc/self/maps, where torchvision's has a name of its own."""
import tiny_llama

if __name__ == "__main__":
    llm = tiny_llama.capture(enable_sleep_mode=True)
    for level in (1, 2):
        llm.sleep(level=level)
        llm.wake_up()
    print("woke up twice")
