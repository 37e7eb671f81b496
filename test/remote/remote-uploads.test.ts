/** Outputs on other machines: parts that threads write arrive whole, nothing is replaced unasked, and nothing stays open. */
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { whileFetcherServes } from '#src/io/remote-objects.js';
import { beginUpload, listedUploadId, PART_BYTES, PartUploads } from '#src/io/remote-uploads.js';
import { poolBytesOf } from '#src/remote/remote-inputs.js';
import { type RemoteOutputs, remoteOutputs } from '#src/remote/remote-outputs.js';
import { errorOf } from '../fixtures/error-of.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { type ObjectServer, startObjectServer } from './object-server.js';

const directory = useMemoryDirectory();
const MIB = 1024 * 1024;
const PART = 300_000;
const ADDRESS = 's3://bucket/out/é+ &1.bin';
const PATIENCE = {
  totalMilliseconds: 2000,
  firstPauseMilliseconds: 5,
  longestPauseMilliseconds: 20,
  silenceMilliseconds: 150,
};

/** One part after the other. */
const CONTENT = Buffer.alloc(3 * PART + 1000);
for (let i = 0; i < CONTENT.byteLength; i++) CONTENT[i] = (i * 7 + (i >> 8)) % 251;

let server: ObjectServer;
const former = { ...process.env };
const VARIABLES = ['AWS_ENDPOINT_URL', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];

beforeEach(async () => {
  server = await startObjectServer({}, { secret: 'secret', region: 'eu-north-7', pageKeys: 2, leastPartBytes: PART });
  process.env['AWS_ENDPOINT_URL'] = server.url;
  process.env['AWS_ACCESS_KEY_ID'] = 'tester';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';
});
afterEach(async () => {
  await server.close();
  for (const name of VARIABLES) {
    if (former[name] === undefined) delete process.env[name];
    else process.env[name] = former[name];
  }
});

const GO_ON = () => {};
const retried: string[] = [];

function withOutputs<T>(work: (outputs: RemoteOutputs) => Promise<T>): Promise<T> {
  const request = {
    memoryBytes: 64 * MIB,
    workers: 2,
    patience: PATIENCE,
    onRetry: (line: string) => retried.push(line),
  };
  return whileFetcherServes(() => work(remoteOutputs(request)));
}

/** In pieces of another size than blocks. */
function write(parts: PartUploads, number: number): void {
  const part = CONTENT.subarray((number - 1) * PART, number * PART);
  for (let done = 0; done < part.byteLength; done += 77_777) parts.write(part.subarray(done, done + 77_777), done);
  parts.put(number, part.byteLength);
}

async function contentOf(outputs: RemoteOutputs, address = ADDRESS): Promise<Buffer> {
  expect((await outputs.head(address))?.byteLength).toBeGreaterThanOrEqual(0);
  await server.change({ settings: { secret: undefined } });
  const reply = await fetch(`${server.url}/bucket/${encodeURIComponent(address.slice('s3://bucket/'.length))}`);
  await server.change({ settings: { secret: 'secret' } });
  return Buffer.from(await reply.arrayBuffer());
}

const begun = () => beginUpload(ADDRESS, GO_ON);
const opened = (outputs: RemoteOutputs) => outputs.uploads('s3://bucket/');

async function complete(outputs: RemoteOutputs, uploadId = begun(), onlyIfAbsent = true): Promise<void> {
  const parts = new PartUploads(ADDRESS, uploadId, PART, GO_ON);
  write(parts, 1);
  await outputs.complete(ADDRESS, uploadId, parts.settle(), onlyIfAbsent);
}

describe('the pool', () => {
  it.each([
    [32 * MIB, 2, 16 * MIB],
    [64 * MIB, 2, 16 * MIB],
    [1024 * MIB, 2, 256 * MIB],
    [4096 * MIB, 2, 288 * MIB],
    [4096 * MIB, 48, 1024 * MIB],
  ])('of %i bytes and %i workers has %i bytes', (memoryBytes, workers, poolBytes) => {
    expect(poolBytesOf({ memoryBytes, workers, uploads: true })).toBe(poolBytes);
  });
});

describe('an upload', () => {
  it('has the parts of several threads, and one of a local file', () =>
    withOutputs(async (outputs) => {
      const path = directory.path('staged');
      writeFileSync(path, CONTENT);
      const uploadId = begun();
      const [one, other] = [0, 1].map(() => new PartUploads(ADDRESS, uploadId, PART, GO_ON));
      if (one === undefined || other === undefined) return expect.fail();
      write(other, 3);
      write(one, 2);
      write(one, 1);
      const tail = { number: 4, path, start: 3 * PART, byteLength: 1000 };
      const last = await outputs.putFile(ADDRESS, uploadId, tail);
      const parts = [...one.settle(), ...other.settle(), last];
      expect(await outputs.head(ADDRESS)).toBeUndefined();
      await outputs.complete(ADDRESS, uploadId, parts, true);
      expect((await contentOf(outputs)).equals(CONTENT)).toBe(true);
      expect(await opened(outputs)).toEqual([]);
    }));

  it('keeps what a room holds for a reader', () =>
    withOutputs(async () => {
      const parts = new PartUploads(ADDRESS, begun(), PART, GO_ON);
      parts.write(CONTENT.subarray(0, PART), 0);
      expect(Buffer.concat([...parts.pieces(280_000)]).equals(CONTENT.subarray(0, 280_000))).toBe(true);
      parts.drop();
      expect([...parts.pieces(280_000)]).toEqual([]);
      parts.drop();
      expect(parts.settle()).toEqual([]);
    }));

  it('has of each number the part that came last', () =>
    withOutputs(async (outputs) => {
      const uploadId = begun();
      const parts = new PartUploads(ADDRESS, uploadId, PART, GO_ON);
      for (const value of [1, 2, 3]) {
        parts.write(Buffer.alloc(PART, value), 0);
        parts.put(1, PART);
      }
      await outputs.complete(ADDRESS, uploadId, parts.settle().slice(-1), true);
      expect((await contentOf(outputs)).equals(Buffer.alloc(PART, 3))).toBe(true);
    }));

  it('waits with the room that comes next until there is one', () =>
    withOutputs(async (outputs) => {
      const uploadId = begun();
      // One part fills the pool.
      const [one, other] = [0, 1].map(() => new PartUploads(ADDRESS, uploadId, PART_BYTES, GO_ON));
      if (one === undefined || other === undefined) return expect.fail();
      expect(outputs.poolBytes).toBe(PART_BYTES);
      for (const number of [1, 3]) {
        one.write(CONTENT, PART_BYTES - CONTENT.byteLength);
        one.put(number, PART_BYTES);
        other.write(CONTENT, 0);
        other.put(number + 1, CONTENT.byteLength);
      }
      const numbers = [...one.settle(), ...other.settle()].map(({ number }) => number);
      expect(numbers).toEqual([1, 3, 2, 4]);
      expect((await outputs.parts(ADDRESS, uploadId))?.map(({ byteLength }) => byteLength)).toEqual([
        PART_BYTES,
        CONTENT.byteLength,
        PART_BYTES,
        CONTENT.byteLength,
      ]);
    }));

  it('of nothing makes an empty object', () =>
    withOutputs(async (outputs) => {
      writeFileSync(directory.path('none'), '');
      const uploadId = await outputs.begin(ADDRESS);
      const nothing = { number: 1, path: directory.path('none'), start: 0, byteLength: 0 };
      await outputs.complete(ADDRESS, uploadId, [await outputs.putFile(ADDRESS, uploadId, nothing)], true);
      expect((await outputs.head(ADDRESS))?.byteLength).toBe(0);
    }));

  it('is not broken by a server that is slow to take it', () =>
    withOutputs(async (outputs) => {
      await server.change({ settings: { takesBytesOfSecond: 8 * MIB } });
      const uploadId = begun();
      const parts = new PartUploads(ADDRESS, uploadId, PART_BYTES, GO_ON);
      retried.length = 0;
      parts.write(Buffer.alloc(6 * MIB, 1), 0);
      parts.put(1, 6 * MIB);
      expect(parts.settle().length).toBe(1);
      await outputs.abort(ADDRESS, uploadId);
      expect(retried).toEqual([]);
    }));
});

describe('a list', () => {
  it('has all pages of parts, and none of an upload that is gone', () =>
    withOutputs(async (outputs) => {
      const uploadId = begun();
      const parts = new PartUploads(ADDRESS, uploadId, PART, GO_ON);
      for (const number of [1, 2, 3]) write(parts, number);
      const put = parts.settle();
      expect(await outputs.parts(ADDRESS, uploadId)).toEqual(put.map((part) => ({ ...part, byteLength: PART })));
      await outputs.abort(ADDRESS, uploadId);
      await outputs.abort(ADDRESS, uploadId);
      expect(await outputs.parts(ADDRESS, uploadId)).toBeUndefined();
    }));

  it('has all pages of uploads below an address', () =>
    withOutputs(async (outputs) => {
      const addresses = ['a/1', 'b/é 1', 'b/2', 'b/2', 'c'].map((key) => `s3://bucket/${key}`);
      const ids = addresses.map((address) => listedUploadId(beginUpload(address, GO_ON)));
      expect((await opened(outputs)).map(({ uploadId }) => uploadId).toSorted()).toEqual(ids.toSorted());
      const below = await outputs.uploads('s3://bucket/b/');
      expect(below.map(({ address }) => address).toSorted()).toEqual(addresses.slice(1, 4).toSorted());
      expect(below[0]?.initiated).toEqual(new Date('2026-01-02T03:04:05Z'));
      for (const { address, uploadId } of await opened(outputs)) await outputs.abort(address, uploadId);
      expect(await opened(outputs)).toEqual([]);
    }));
});

describe('an object', () => {
  it.each([undefined, 'ignored', 'unknown'] as const)('is replaced only on demand: conditions are %s', (conditions) =>
    withOutputs(async (outputs) => {
      await server.change({ settings: { conditions } });
      await complete(outputs);
      const uploadId = begun();
      const { code, message } = await errorOf(complete(outputs, uploadId));
      expect({ code, message }).toEqual({
        code: 'ERR_OUTPUT_EXISTS',
        message: `the output ${ADDRESS} appeared during the job and was left alone; give \`force\` to replace it`,
      });
      await complete(outputs, uploadId, false);
      expect(await opened(outputs)).toEqual([]);
      await outputs.putText('s3://bucket/out/_SUCCESS', 'one', true);
      expect((await errorOf(outputs.putText('s3://bucket/out/_SUCCESS', 'two', true))).code).toBe('ERR_OUTPUT_EXISTS');
      await outputs.putText('s3://bucket/out/_SUCCESS', 'three', false);
      expect(String(await contentOf(outputs, 's3://bucket/out/_SUCCESS'))).toBe('three');
      expect((await outputs.list('s3://bucket/out/')).map(({ place }) => place)).toEqual(['_SUCCESS', 'é+ &1.bin']);
      await outputs.remove(ADDRESS);
      await outputs.remove(ADDRESS);
      expect(await outputs.head(ADDRESS)).toBeUndefined();
    }),
  );

  it('is found to be made when it is completed again, whatever became of the answer', () =>
    withOutputs(async (outputs) => {
      const uploadId = begun();
      await complete(outputs, uploadId);
      await outputs.complete(ADDRESS, uploadId, [], true);
      await outputs.complete(ADDRESS, uploadId, [], false);
      const other = await errorOf(outputs.complete(ADDRESS, `${listedUploadId(uploadId)} other`, [], false));
      expect(other.message).toBe(
        `cannot write the output ${ADDRESS}: its upload is gone, or was completed by somebody else; start again`,
      );
    }));
});

describe('a job that ends early', () => {
  const stopAfter = (looks: number) => () => {
    if (looks-- <= 0) throw new Error('stopped');
  };

  it('does not wait for parts under way, which an abort cancels', () =>
    withOutputs(async (outputs) => {
      const uploadId = begun();
      await server.change({ settings: { takesBytesOfSecond: 1 } });
      const parts = new PartUploads(ADDRESS, uploadId, PART_BYTES, stopAfter(2));
      parts.write(CONTENT, 0);
      parts.put(1, PART_BYTES);
      expect(() => parts.settle()).toThrow('stopped');
      await outputs.abort(ADDRESS, uploadId);
      await server.change({ settings: { takesBytesOfSecond: undefined } });
      expect(await opened(outputs)).toEqual([]);
      // Its room is free again.
      await complete(outputs);
    }));

  it('leaves no upload whose id came too late', async () => {
    await withOutputs(async (outputs) => {
      await server.change({ settings: { answersAfterMilliseconds: 100 } });
      expect(() => beginUpload(ADDRESS, stopAfter(0))).toThrow('stopped');
      const stopped = outputs.begin(ADDRESS, AbortSignal.timeout(20));
      expect((await errorOf(stopped)).code).toBe('ABORT_ERR');
    });
    await server.change({ settings: { answersAfterMilliseconds: 0 } });
    await withOutputs(async (outputs) => expect(await opened(outputs)).toEqual([]));
  });

  it('gives back a room that came too late', () =>
    withOutputs(async (outputs) => {
      const uploadId = begun();
      const [holder, waiting] = [GO_ON, stopAfter(1)].map(
        (check) => new PartUploads(ADDRESS, uploadId, PART_BYTES, check),
      );
      holder?.write(CONTENT, 0);
      expect(() => waiting?.write(CONTENT, 0)).toThrow('stopped');
      waiting?.drop();
      holder?.drop();
      await complete(outputs, uploadId);
    }));
});

describe('one clear line', () => {
  const put = (outputs: RemoteOutputs) =>
    errorOf((async () => complete(outputs, beginUpload(ADDRESS, GO_ON)))()).then(
      ({ code, message }) => `${code} ${message}`,
    );

  it('for credentials that may not write', async () => {
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong';
    expect(await withOutputs(put)).toBe(
      `ERR_IO cannot write the output ${ADDRESS}: the server answered 403 (AccessDenied: said by the test); the credentials of the environment were tried; check what they may write`,
    );
  });

  it('for a server that is gone', async () => {
    process.env['AWS_ENDPOINT_URL'] = 'http://127.0.0.1:9';
    expect(await withOutputs(put)).toBe(
      `ERR_IO cannot write the output ${ADDRESS}: no server listens there, 3 times; look whether the server and the network work, and start again`,
    );
  });

  it('for a part that fails for good: the next one of its thread is refused', () =>
    withOutputs(async (outputs) => {
      const parts = new PartUploads(ADDRESS, 'none', PART, GO_ON);
      write(parts, 1);
      expect(() => parts.settle()).toThrow('its upload is gone');
      parts.write(CONTENT.subarray(0, PART), 0);
      await expect
        .poll(() => {
          try {
            write(parts, 2);
            return '';
          } catch (error) {
            return String(error);
          }
        })
        .toContain('its upload is gone');
      await outputs.abort(ADDRESS, 'none');
    }));

  it('for parts that the memory has no room for', () =>
    withOutputs(async () => {
      const parts = new PartUploads(ADDRESS, begun(), 20 * MIB, GO_ON);
      expect(() => parts.write(CONTENT, 0)).toThrow(
        'parts of uploads have 20 MiB, and the memory has room for 16; raise `memoryBytes`',
      );
    }));
});
