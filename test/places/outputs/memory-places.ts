/** Places in the memory of this process: what a further service of objects takes. */
import { readFileSync } from 'node:fs';
import { outputAppearedError } from '#src/io/rename-and-sync.js';
import { ObjectsPlace } from '#src/places/outputs/output-objects.js';
import type { OutputPlaces } from '#src/places/outputs/output-place.js';
import type { ObjectStore } from '#src/remote/object-store.js';

export function memoryPlaces(objects: Map<string, Buffer>): OutputPlaces {
  const parts = new Map<string, Map<number, Buffer>>();
  const put = (address: string, bytes: Buffer, onlyIfAbsent: boolean) => {
    if (onlyIfAbsent && objects.has(address)) throw outputAppearedError(address);
    objects.set(address, bytes);
  };
  const store: ObjectStore = {
    async begin() {
      const uploadId = String(parts.size);
      parts.set(uploadId, new Map());
      return uploadId;
    },
    async head(address) {
      const bytes = objects.get(address);
      return bytes && { byteLength: bytes.byteLength, tag: bytes.toString('base64') };
    },
    list: async (address) =>
      [...objects]
        .filter(([name]) => name.startsWith(address))
        .map(([name, { byteLength }]) => ({ place: name.slice(address.length), byteLength, tag: '' })) as never,
    async putFile(_, uploadId, { number, path, start, byteLength }) {
      parts.get(uploadId)?.set(number, readFileSync(path).subarray(start, start + byteLength));
      return { number, tag: '', content: undefined };
    },
    parts: async () => [],
    async complete(address, uploadId, sent, onlyIfAbsent) {
      const own = parts.get(uploadId);
      put(address, Buffer.concat(sent.map(({ number }) => own?.get(number) ?? Buffer.alloc(0))), onlyIfAbsent);
    },
    async abort(_, uploadId) {
      parts.delete(uploadId);
    },
    putText: async (address, text, onlyIfAbsent) => put(address, Buffer.from(text), onlyIfAbsent),
    async remove(address) {
      objects.delete(address);
    },
    uploads: async () => [],
  };
  // Tasks stage whole shards, so that no thread needs the store.
  const at: OutputPlaces['reopen'] = (to) =>
    Object.assign(new ObjectsPlace(to, store), { planTransfers: undefined as never });
  return {
    poolBytes: 0,
    resolve: (path = '', naming, mayReplace) =>
      at(naming ? { kind: 'shards', path, exists: true, naming, mayReplace } : { kind: 'file', path, mayReplace }),
    reopen: at,
    findStrayUploads: async () => [],
  };
}
