"""Backward passes run in a thread of autograd's own."""

import threading


class Engine:
    def run_backward(self, work):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()


class Variable:
    _execution_engine = Engine()


class profiler:  # a module
    class profile:
        def __init__(self, *activities):
            self.kineto_activities = set(activities)

        def _prepare_trace(self):
            print(sorted(activity.name for activity in self.kineto_activities))
