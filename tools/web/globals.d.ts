// Names of emscripten (worker.js), and of a worker's scope.
declare function Graphkit(settings: object): Promise<any>;
declare const importScripts: unknown;
declare const DecompressionStream: new (format: string) => ReadableWritablePair;
