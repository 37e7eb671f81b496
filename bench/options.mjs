// @ts-check
// Reads and checks the options before anything is made or run. Sizes: KB, MB, GB are powers of 1000; KiB, MiB, GiB are
// powers of 1024; a bare number is bytes.

import path from 'node:path';
import { parseArgs } from 'node:util';
import { cases } from './cases.mjs';
import { contestants } from './contestants.mjs';
import { guardCases } from './guard-figures.mjs';

/** @import { Case } from './cases.mjs' */

/**
 * @typedef {object} Options
 * @property {string} workDir absolute
 * @property {string} seed
 * @property {number} sizeBytes
 * @property {number | undefined} fileCount undefined: the default
 * @property {number | undefined} rounds undefined: the case decides
 * @property {number | undefined} warmup
 * @property {Case[]} cases
 * @property {Set<string>} contestants
 * @property {boolean} check
 * @property {boolean} touch
 * @property {'compare' | 'renew' | undefined} baseline what the regression guard does; undefined: no guard
 * @property {string | undefined} jsonFile
 */

/** A mistake in the options: exit 2. */
export class UsageError extends Error {}

export const helpText = `usage: npm run bench -- [options]

  --cases A,B        only these cases (default: all): ${cases.map((each) => each.name).join(', ')}
  --only A,B         only these contestants: ${contestants.map((each) => each.name).join(', ')}
  --skip A,B         not these contestants
  --size SIZE        size of the big corpora (default 2GB)
  --files N          files of a corpus that is given by its size (default 8)
  --rounds N         measured rounds (default 5, in some cases other)
  --warmup N         rounds before them that do not count (default 1)
  --check            compare the checksum of every shuffled output, not only of pileshuf's first
  --work DIR         corpora, temp data and outputs (default bench/work)
  --seed TEXT        of the corpora and of pileshuf (default 1)
  --json FILE        write the full result there
  --no-touch         do not touch the free memory once beforehand
  --quick            regression guard, under a minute: counts and ratios against bench/baseline.json
  --renew-baseline   the same, and writes what was measured there

environment: TERASHUF=path of a terashuf binary; PEERS_PYTHON=a Python with the modules duckdb, pyarrow and datasets;
PILESHUF=another main.cjs than dist/bundle/main.cjs; FORMER=main.cjs of a build to compare with
`;

/** @param {string[]} argv @returns {Options | 'help'} */
export function readOptions(argv) {
  const values = parse(argv);
  if (values.help) return 'help';
  const baseline = values['renew-baseline'] ? 'renew' : values.quick ? 'compare' : undefined;
  return {
    workDir: path.resolve(values.work ?? path.join(import.meta.dirname, 'work')),
    seed: readSeed(values.seed ?? '1'),
    sizeBytes: readSize(values.size ?? '2GB'),
    fileCount: readCount('--files', values.files, 8),
    rounds: readCount('--rounds', values.rounds, 1),
    warmup: readCount('--warmup', values.warmup, 0),
    cases: chooseNamed('--cases', values.cases, baseline === undefined ? cases : guardCases),
    contestants: chooseContestants(values.only, values.skip),
    check: values.check === true,
    touch: values['no-touch'] !== true && baseline === undefined,
    baseline,
    jsonFile: values.json,
  };
}

/** @param {string[]} argv */
function parse(argv) {
  try {
    const text = /** @type {const} */ ({ type: 'string' });
    const flag = /** @type {const} */ ({ type: 'boolean' });
    return parseArgs({
      args: argv,
      options: {
        cases: text,
        only: text,
        skip: text,
        size: text,
        files: text,
        rounds: text,
        warmup: text,
        work: text,
        seed: text,
        json: text,
        check: flag,
        'no-touch': flag,
        quick: flag,
        'renew-baseline': flag,
        help: { ...flag, short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
}

/** @param {string | undefined} only @param {string | undefined} skip */
function chooseContestants(only, skip) {
  const chosen = new Set(chooseNamed('--only', only, contestants).map(({ name }) => name));
  if (skip !== undefined) for (const { name } of chooseNamed('--skip', skip, contestants)) chosen.delete(name);
  if (chosen.size === 0) throw new UsageError('--only and --skip leave no contestant');
  return chosen;
}

/**
 * @template {{ name: string }} T
 * @param {string} option
 * @param {string | undefined} text
 * @param {T[]} all
 * @returns {T[]} in the order of the table
 */
function chooseNamed(option, text, all) {
  if (text === undefined) return all;
  const names = text.split(',').filter(Boolean);
  const unknown = names.find((name) => !all.some((each) => each.name === name));
  if (unknown !== undefined || names.length === 0) {
    throw new UsageError(
      `${option}: expected some of ${all.map((each) => each.name).join(', ')}, got "${unknown ?? text}"`,
    );
  }
  return all.filter(({ name }) => names.includes(name));
}

/** @param {string} text @returns {string} a text that is safe in a line of shell without quotes */
function readSeed(text) {
  if (/^[A-Za-z0-9_.]+$/.test(text)) return text;
  throw new UsageError(`--seed: expected letters, digits, "_" and ".", got "${text}"`);
}

/** @param {string} option @param {string | undefined} text @param {number} least */
function readCount(option, text, least) {
  if (text === undefined) return undefined;
  if (/^\d{1,4}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UsageError(`${option}: expected a whole number from ${least}, got "${text}"`);
}

/** @param {string} text */
function readSize(text) {
  const match = /^(\d+(?:\.\d+)?)(?:([KMGT])(i?)B)?$/.exec(text);
  if (!match) throw new UsageError(`--size: expected a size such as 500MB, 2GB or 1GiB, got "${text}"`);
  const power = match[2] ? 'KMGT'.indexOf(match[2]) + 1 : 0;
  const bytes = Math.round(Number(match[1]) * (match[3] ? 1024 : 1000) ** power);
  if (bytes < 1e6) throw new UsageError(`--size: expected at least 1MB, got "${text}"`);
  return bytes;
}
