/** Questions to S3, as they are sent. */
import { expect, it } from 'vitest';
import { S3 } from '#src/remote/s3.js';

const KEYS = [
  ['a/../b/./c', '/a/../b/./c'],
  ['/a//b/', '//a//b/'],
  ['%2e%2e/x', '/%252e%252e/x'],
  ["?#+ é\n\\*!'()", '/%3F%23%2B%20%C3%A9%0A%5C%2A%21%27%28%29'],
];

it.each(KEYS)('the key %j is the path %s', async (key, path) => {
  const ofHost = await new S3({ endpoint: undefined, requesterPays: false }).signed({ bucket: 'bucket', key }, {});
  expect([ofHost.server.host, ofHost.path]).toEqual(['bucket.s3.us-east-1.amazonaws.com', path]);
  const there = new S3({ endpoint: 'http://host:1/below/', requesterPays: false });
  expect((await there.signed({ bucket: 'b:1#', key }, {})).path).toBe(`/below/b%3A1%23${path}`);
});

it.each(['../x', 'a/../../b/x', 'a//../../x', './../x'])(
  'the key %s, which leads out of its bucket, is refused',
  async (key) => {
    const s3 = new S3({ endpoint: 'http://host', requesterPays: false });
    await expect(s3.signed({ bucket: 'bucket', key }, {})).rejects.toMatchObject({ code: 'ERR_INPUT_UNREADABLE' });
  },
);
