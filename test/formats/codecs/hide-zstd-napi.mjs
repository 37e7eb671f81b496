// Loaded with `node --import`: the optional package zstd-napi is not there, on no thread.
import Module from 'node:module';

/** @type {(request: string, ...others: unknown[]) => string} */
const resolve = Reflect.get(Module, '_resolveFilename');

Reflect.set(
  Module,
  '_resolveFilename',
  /** @type {typeof resolve} */
  (request, ...others) => {
    if (!/^zstd-napi(\/|$)/.test(request)) return Reflect.apply(resolve, Module, [request, ...others]);
    throw Object.assign(new Error(`Cannot find module '${request}'`), { code: 'MODULE_NOT_FOUND' });
  },
);
