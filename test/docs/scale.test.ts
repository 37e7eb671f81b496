/**
 * docs/SCALE.md says what the model says of the plans as they are now: a change of either has to be written there.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { scaleParts, withParts } from '../../bench/model/scale-document.mjs';

const results = new URL('../../bench/results/', import.meta.url);

describe('docs/SCALE.md', () => {
  it('holds the tables that npm run bench:model writes', () => {
    const [last = ''] = readdirSync(results)
      .filter((name) => name.endsWith('-model.json'))
      .sort()
      .slice(-1);
    const parts = scaleParts(JSON.parse(readFileSync(new URL(last, results), 'utf8')));
    const text = readFileSync(new URL('../../docs/SCALE.md', import.meta.url), 'utf8');
    expect(text, 'run "npm run bench:model"').toBe(withParts(text, parts));
    expect(Object.keys(parts).filter((name) => !text.includes(`<!-- model: ${name} -->`))).toEqual([]);
  });
});
