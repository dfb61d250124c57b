// Runs commands of graphkit on files, one after the other, each in a memory of its own. Behind it stands what emscripten made.
"use strict";

/** @param {string} base64 of a gzip file */
async function unpack(base64) {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

const PROGRESS = /^graphkit: \w+ing .* …$/;  // of slow commands

/** The output of a command, as bytes; `line` gets each of its lines and returns true for those that stay. */
class Said {
  constructor(/** @type {((line: string) => boolean | void) | null} */ line = null) {
    let begin = 0;
    this.bytes = new Uint8Array(1 << 16);
    this.length = 0;
    this.add = (/** @type {number | null} */ byte) => {
      if (byte === null) return;
      if (this.length === this.bytes.length) {
        const larger = new Uint8Array(2 * this.length);
        larger.set(this.bytes);
        this.bytes = larger;
      }
      this.bytes[this.length++] = byte;
      if (byte !== 10 || !line) return;
      if (!line(new TextDecoder().decode(this.bytes.subarray(begin, this.length - 1)))) this.length = begin;
      begin = this.length;
    };
  }
  text() { return new TextDecoder().decode(this.bytes.subarray(0, this.length)); }
}

/** The files as a folder of the command's, read a piece at a time; `read` gets the share of all bytes that is read.
 * @param {any} FS @param {File[]} files @param {(share: number) => void} read */
function mount(FS, files, read) {
  FS.mkdir("/files");
  FS.mount(FS.filesystems.WORKERFS, {files}, "/files");
  FS.chdir("/files");
  const size = files.reduce((sum, file) => sum + file.size, 0), furthest = new Map();
  let told = 0;
  for (const file of files) {
    const node = FS.lookupPath("/files/" + file.name).node, slow = node.stream_ops.read;
    node.stream_ops = {...node.stream_ops, read(/** @type {any[]} */ ...at) {
      const count = slow(...at);  // stream, buffer, offset, length, position
      furthest.set(file, Math.max(furthest.get(file) || 0, at[4] + count));
      const sum = [...furthest.values()].reduce((a, b) => a + b, 0);
      if (sum - told > size / 200 || sum === size) read((told = sum) / size);
      return count;
    }};
  }
}

/** @param {WebAssembly.Module} module @param {File[]} files @param {string[]} words @param {(share: number) => void} read
 * @param {(line: string) => void} doing
 * @returns {Promise<{code: number, out: string, error: string, file: Uint8Array | null}>} */
async function run(module, files, words, read, doing) {
  const out = new Said(), error = new Said((line) => !PROGRESS.test(line) || doing(line));
  let code = -1;
  const engine = await Graphkit({
    stdin: () => null, stdout: out.add, stderr: error.add, thisProgram: "graphkit",
    instantiateWasm(/** @type {WebAssembly.Imports} */ imports, /** @type {Function} */ done) {
      WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
      return {};
    },
    quit(/** @type {number} */ status, /** @type {Error} */ toThrow) { code = status; throw toThrow; },
  });
  mount(engine.FS, files, read);
  let trouble = "";
  try {
    engine.callMain(words);
  } catch (thrown) {
    if (code < 0) trouble = `graphkit: error: the page failed, use the command graphkit: ${thrown}`;
  }
  const file = engine.FS.analyzePath("/page.html").exists ? engine.FS.readFile("/page.html") : null;
  return {code, out: out.text(), error: trouble || error.text(), file};
}

if (typeof importScripts === "function") {
  self.onmessage = async ({data: {wasm, module, files, commands}}) => {
    try {
      const compiled = module || await unpack(wasm);
      self.postMessage({compiled});
      for (const [at, words] of commands.entries()) {
        const tell = (/** @type {object} */ news) => self.postMessage({at, ...news});
        tell({read: 0});
        tell(await run(compiled, files, words, (/** @type {number} */ read) => tell({read}), (/** @type {string} */ doing) => tell({doing})));
      }
    } catch (thrown) {
      self.postMessage({at: 0, code: -1, out: "", error: "graphkit: error: this browser can't run graphkit: " + thrown, file: null});
    }
  };
}
