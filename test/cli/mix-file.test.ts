/** The file of `--mix`: YAML and JSON, sizes with units, and files that are none. */
import { describe, expect, it } from 'vitest';
import { parseMixFile } from '#src/cli/mix-file.js';

const read = (content: string | Uint8Array): Promise<unknown> => parseMixFile(Buffer.from(content), 'mix.yaml');

describe('a mix file', () => {
  it('may be YAML or JSON', async () => {
    const mix = { groups: [{ name: 'a', inputs: ['x*'], weight: 2.5 }] };
    expect(await read(JSON.stringify(mix))).toEqual(mix);
    expect(await read('groups:\n  - name: a\n    inputs: [x*]\n    weight: 2.5 # twice and a half\n')).toEqual(mix);
  });

  it('may have a total with a unit', async () => {
    expect(await read('{unit: bytes, total: 1.5kB}')).toEqual({ unit: 'bytes', total: 1500 });
    expect(await read('{unit: bytes, total: 3e3}')).toEqual({ unit: 'bytes', total: 3000 });
    expect(await read('{unit: .n_tokens, total: 300B}')).toEqual({ unit: '.n_tokens', total: 300_000_000_000 });
    expect(await read('{unit: records, total: 1.25k}')).toEqual({ unit: 'records', total: 1250 });
    for (const total of ['1KiB', '1.2345k', '1X', '99999T', '-1K'])
      await expect(read(`{unit: records, total: ${total}}`)).rejects.toThrow(/expected a whole number, or one with K/);
    await expect(read('{unit: bytes, total: 1X}')).rejects.toThrow(/--mix \S+: total 1X: unknown unit 'X'/);
  });

  it.each([
    ['', /expected an object with groups/],
    ['[]', /expected an object with groups/],
    ['text', /expected an object with groups/],
    ['groups: [', /at line 1, column \d+; expected YAML or JSON$/],
    ['a: 1\na: 2\n', /Map keys must be unique at line 2, column 1; expected YAML or JSON$/],
    ['a: *b', /expected YAML or JSON$/],
    ['a: !!js/function x', /expected YAML or JSON$/],
    [Uint8Array.of(0xff, 0xfe, 0x41), /the text is not valid UTF-8$/],
    [
      'a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c]',
      /alias/,
    ],
  ])('that is %j is refused', async (bytes, message) => {
    const refused = await read(bytes).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'ERR_OPTION', message: expect.stringMatching(message) });
    expect(String(refused)).not.toContain('\n');
  });
});
