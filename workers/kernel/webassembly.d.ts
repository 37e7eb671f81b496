/** The part of the WebAssembly JavaScript interface that pileshuf uses. TypeScript declares it only with the DOM. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    readonly exports: Record<string, unknown>;
    constructor(module: Module, imports?: Record<string, Record<string, unknown>>);
  }
  class Memory {
    readonly buffer: ArrayBufferLike;
    constructor(descriptor: { initial: number; maximum: number; shared?: boolean });
    grow(pages: number): number;
  }
  /** A trap. */
  class RuntimeError extends Error {}
}
