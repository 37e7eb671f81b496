/**
 * docs/SCALE.md and docs/SCALE-MODEL.md hold the tables of the model for the present plans, and must change with
 * either.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { scaleDocuments, scaleParts, withParts } from '../../bench/model/scale-document.mjs';

const results = new URL('../../bench/results/', import.meta.url);

describe('docs/SCALE.md and docs/SCALE-MODEL.md', () => {
  it('hold the tables that npm run bench:model writes', () => {
    const [last = ''] = readdirSync(results)
      .filter((name) => name.endsWith('-model.json'))
      .sort()
      .slice(-1);
    const parts = scaleParts(JSON.parse(readFileSync(new URL(last, results), 'utf8')));
    const texts = scaleDocuments.map((name) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8'));
    for (const text of texts) expect(text, 'run "npm run bench:model"').toBe(withParts(text, parts));
    expect(Object.keys(parts).filter((name) => !texts.join('').includes(`<!-- model: ${name} -->`))).toEqual([]);
  });
});
