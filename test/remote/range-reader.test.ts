/** Readers of one object, with a played server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type Reply, type Target, targetAt } from '#src/remote/exchange.js';
import { PATIENCE } from '#src/remote/failure.js';
import { Http } from '#src/remote/http.js';
import { RangeReader } from '#src/remote/range-reader.js';
import { Web } from '#src/remote/web.js';

it('an address that a redirect gave expires under several requests', async () => {
  let leases = 0;
  let expired = 0;
  const http = new Http(PATIENCE, () => undefined);
  http.getRange = async ({ path }: Target, takes): Promise<Reply> => {
    await sleep(2);
    if (path === '/file') return { status: 302, headers: { location: `/lease/${++leases}` }, text: '' };
    if (Number(path.split('/')[2]) <= expired) return { status: 403, headers: {}, text: '' };
    const head = { status: 206, headers: { etag: '"1"', 'content-length': '1', 'content-range': 'bytes 0-0/9' } };
    takes(head)?.filled(1);
    return { ...head, text: '' };
  };
  const web = new Web();
  web.targetOf = async (path) => targetAt(new URL(path), {});
  const reader = new RangeReader(
    http,
    () => web,
    PATIENCE,
    () => {},
  );
  const path = 'https://host/file';
  const read = () =>
    reader.read(
      path,
      () => ({ path, version: undefined, start: 0, end: 1 }),
      () => ({ room: () => new Uint8Array(1), filled: () => {} }),
    );
  await read();
  expired = leases;
  expect(await Promise.all([read(), read(), read()])).toHaveLength(3);
  expired = 99;
  await expect(read()).rejects.toMatchObject({ code: 'ERR_INPUT_UNREADABLE' });
});
