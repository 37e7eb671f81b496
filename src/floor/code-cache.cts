/**
 * Loads the CommonJS files of the bundle with the code that an earlier process compiled, also that of the functions it
 * called: without it, a small job compiles for a quarter of its time. The cache lies beside the files and belongs to
 * their owner. V8 refuses what it wrote in another version or with other flags; then the source is compiled. V8 does
 * not look for damage, so each file ends with its digest.
 */
const { createHash } = process.getBuiltinModule('node:crypto');
const { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = process.getBuiltinModule('node:fs');
const { createRequire } = process.getBuiltinModule('node:module');
const { dirname, join } = process.getBuiltinModule('node:path');
const { Script } = process.getBuiltinModule('node:vm');

export interface CodeCache {
  /** Loads a file as `require` would. What the file requires beside it is loaded in the same way. */
  loadCompiled(path: string): unknown;
  /** Saves what was compiled for the next process. Where that fails, the next one only takes longer. */
  saveCompiled(): void;
}

interface CompiledFile {
  readonly path: string;
  readonly script: InstanceType<typeof Script>;
}

const DIGEST_BYTES = 20;

const loaded = new Map<string, { exports: unknown }>();
const notCached: CompiledFile[] = [];

function loadCompiled(path: string): unknown {
  const known = loaded.get(path);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(path, module);
  const source = readFileSync(path, 'utf8');
  // V8 compares no more than the length of the source.
  const cachePath = join(cacheDirectory(path), digestOf(source).toString('hex'));
  const cachedData = readIfWhole(cachePath);
  const script = new Script(`(function (exports, require, module, __filename, __dirname, importOther) {${source}\n})`, {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  if (cachedData === undefined || script.cachedDataRejected === true) notCached.push({ path: cachePath, script });
  const requireOther = createRequire(path);
  const require = (id: string): unknown =>
    id.startsWith('./') ? loadCompiled(join(dirname(path), id)) : requireOther(id);
  script.runInThisContext()(module.exports, require, module, path, dirname(path), (id: string) => import(id));
  return module.exports;
}

function cacheDirectory(path: string): string {
  return join(dirname(path), 'cache', `${process.version}-${process.arch}`);
}

function digestOf(data: string | Buffer): Buffer {
  return createHash('sha1').update(data).digest();
}

function readIfWhole(path: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const data = bytes.subarray(0, -DIGEST_BYTES);
    return digestOf(data).equals(bytes.subarray(-DIGEST_BYTES)) ? data : undefined;
  } catch {
    return undefined;
  }
}

function saveCompiled(): void {
  try {
    for (const { path, script } of notCached) {
      // Another user's files here would be in the way of the owner, who may want to remove the program.
      if (statSync(dirname(dirname(dirname(path)))).uid !== process.geteuid?.()) return;
      mkdirSync(dirname(path), { recursive: true });
      const data = script.createCachedData();
      const part = `${path}.${process.pid}`;
      try {
        writeFileSync(part, Buffer.concat([data, digestOf(data)]));
        renameSync(part, path);
      } finally {
        rmSync(part, { force: true });
      }
    }
  } catch {
    // For example, the disk is full or read-only.
  }
}

module.exports = { loadCompiled, saveCompiled } satisfies CodeCache;
