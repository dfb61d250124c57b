"""The parts of a trace that normalising keeps, and those that it levels."""

import unittest

from normalise import normalise

HEADER = '{"schema":"graphkit-trace","version":1,"device":"soft","records":['


def trace(*records):
    return HEADER + "\n" + ",\n".join(records) + "]}\n"


class NormaliseTest(unittest.TestCase):
    def test_process_and_thread_ids_become_dense_and_paths_short(self):
        self.assertEqual(
            normalise(trace('{"type":"process","pid":4711,"program":"/a/b/app","args":["-x"],"tracer":"0.1"}',
                            '{"type":"thread","id":0,"tid":4711,"t":12}',
                            '{"type":"thread","id":1,"tid":4713}',
                            '{"type":"end","records":3}')),
            trace('{"type":"process","pid":1,"program":"app","args":["-x"]}',
                  '{"type":"thread","id":0,"tid":1}',
                  '{"type":"thread","id":1,"tid":2}',
                  '{"type":"end","records":3}'))

    def test_clock_readings_and_stacks_go_and_aren_t_counted(self):
        self.assertEqual(
            normalise(trace('{"type":"clock","mono":1,"wall":2}',
                            '{"type":"stack","id":0,"frames":[]}',
                            '{"type":"launch","exec":0,"stream":0}',
                            '{"type":"end","records":3,"launches":1}')),
            trace('{"type":"launch","exec":0,"stream":0}', '{"type":"end","records":1,"launches":1}'))

    def test_handles_are_numbered_as_they_appear_and_null_stays(self):
        self.assertEqual(
            normalise(trace('{"type":"stream","id":0,"handle":"0x0"}',
                            '{"type":"stream","id":1,"handle":"0x55aa"}',
                            '{"type":"event","id":0,"handle":"0x66bb"}',
                            '{"type":"graph","id":0,"origin":"capture","handle":"0x55aa"}',
                            '{"type":"end","records":4}')),
            trace('{"type":"stream","id":0,"handle":"0x0"}',
                  '{"type":"stream","id":1,"handle":"0x1"}',
                  '{"type":"event","id":0,"handle":"0x2"}',
                  '{"type":"graph","id":0,"origin":"capture","handle":"0x3"}',
                  '{"type":"end","records":4}'))

    def test_memory_is_moved_and_keeps_its_offset_in_its_segment(self):
        self.assertEqual(
            normalise(trace('{"type":"segment","id":0,"address":"0x7f0000000000","size":4194304,"pool":0}',
                            '{"type":"alloc","id":0,"address":"0x7f0000000200","size":512,"pool":0,"segment":0}',
                            '{"type":"alloc","id":1,"address":"0x7e0000000000","size":1,"pool":1}',
                            '{"type":"end","records":3}')),
            trace('{"type":"segment","id":0,"address":"0x100000000","size":4194304,"pool":0}',
                  '{"type":"alloc","id":0,"address":"0x100000200","size":512,"pool":0,"segment":0}',
                  '{"type":"alloc","id":1,"address":"0x100400000","size":1,"pool":1}',
                  '{"type":"end","records":3}'))

    def test_a_truncated_trace_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no end record"):
            normalise(HEADER + '\n{"type":"launch","exec":0,"stream":0},\n')

    def test_a_broken_line_is_named(self):
        with self.assertRaisesRegex(ValueError, "line 3"):
            normalise(trace('{"type":"launch","exec":0,"stream":0}', '{"type":', '{"type":"end","records":2}'))


if __name__ == "__main__":
    unittest.main()
