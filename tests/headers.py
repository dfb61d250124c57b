#!/usr/bin/env python3
"""Fails when an object of a build includes a header that the set-up doesn't bring.

    headers.py --ninja NINJA --build BUILD --source SOURCE [--toolkit FOLDER...]

Headers may come from the sources, the build folder, the compiler, the system's packages and the CUDA toolkits that the build chose.
A header of CUDA's (one that a toolkit has under the same name) may come from a toolkit only: a system's include folder that holds
another CUDA would otherwise hide that a pinned package lacks a header.
"""
import argparse
import os
import pathlib
import subprocess
import sys

SYSTEM = ('/usr/include/', '/usr/lib/', '/usr/local/include/')


def dependencies(ninja, build):
    """Each object or program with the files that its compiler read."""
    lines = subprocess.run([ninja, '-C', build, '-t', 'deps'], check=True, capture_output=True, text=True).stdout.splitlines()
    made, files = None, []
    for line in lines:
        if line.startswith('    '):
            files.append(os.path.normpath(os.path.join(build, line.strip())))
        elif line:
            made, files = line.split(': #deps')[0], []
        elif made:
            yield made, files
            made = None
    if made:
        yield made, files


def names_in(folder):
    """The headers below an include folder, by the name that one includes them by."""
    return {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob('*') if path.is_file()}


def inside(path, folders):
    return any(path.startswith(folder) for folder in folders)


def faults(arguments):
    toolkits = [os.path.realpath(folder) + '/' for folder in arguments.toolkit if folder]
    # A toolkit is its root, too: nvcc includes headers from folders beside include/.
    roots = toolkits + [os.path.dirname(folder.rstrip('/')) + '/' for folder in toolkits if folder.endswith('/include/')]
    ours = [os.path.realpath(folder) + '/' for folder in (arguments.source, arguments.build)]
    cuda = set()
    for folder in toolkits:
        cuda |= names_in(folder)
    known, found, objects = {}, [], 0
    for made, files in dependencies(arguments.ninja, arguments.build):
        objects += 1
        for file in files:
            if file not in known:
                known[file] = fault_of(os.path.realpath(file), ours, roots, cuda)
            if known[file]:
                found.append(f'{made} includes {file}: {known[file]}')
    return objects, found


def fault_of(file, ours, roots, cuda):
    """Why a file may not be included, or None."""
    if inside(file, ours) or inside(file, roots):
        return None
    if not inside(file, SYSTEM):
        return 'the set-up brings no such folder'
    for folder in SYSTEM:
        if file.startswith(folder) and file[len(folder):] in cuda:
            return "a header of CUDA's from outside of the toolkit"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--ninja', required=True)
    parser.add_argument('--build', required=True)
    parser.add_argument('--source', required=True)
    parser.add_argument('--toolkit', nargs='*', default=[])
    objects, found = faults(parser.parse_args())
    for line in found[:20]:
        print(line)
    print(f'{objects} objects, {len(found)} headers from elsewhere')
    return 1 if found or not objects else 0


if __name__ == '__main__':
    sys.exit(main())
