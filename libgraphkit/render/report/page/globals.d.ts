// For the check of types (tsc): what its library lacks.
declare class DecompressionStream { constructor(format: string); readable: ReadableStream; writable: WritableStream; }
