/**
 * Each call ends as that of the real shuf does, where there is one: with the same exit status, the same standard error,
 * and the same records in some order. Records that are drawn, as with -n, are as many and come from the same input.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sampled } from '../../fixtures/scale.js';
import { runProgram, type ShufResult, shufInProcess } from '../../fixtures/shuf-in-process.js';
import { useMemoryDirectory } from '../../fixtures/temp-directory.js';
import { makeFiles, type ShufCase, shufCases } from './gnu-cases.js';

const directory = useMemoryDirectory();

const GNU = '/usr/bin/shuf';
const version = existsSync(GNU) ? versionOf(runProgram(GNU, ['--version'], { cwd: '/' }).stdout.toString()) : undefined;

function versionOf(text: string): readonly [number, number] | undefined {
  const match = /^shuf \(GNU coreutils\) (\d+)\.(\d+)/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2])];
}

describe.runIf(version !== undefined)('shuf and GNU shuf', () => {
  it.each(sampled(shufCases, 4))('agree about $words', async (call) => {
    const [ours, theirs] = ['ours', 'theirs'].map((name) => directory.path(name)) as [string, string];
    for (const place of [ours, theirs]) {
      mkdirSync(place);
      makeFiles(place);
    }
    const { stdin = '' } = call;
    const expected = seen(runProgram(GNU, call.words, { cwd: theirs, stdin }), call, theirs);
    const got = seen(await shufInProcess(call.words, { cwd: ours, stdin }), call, ours);
    expect(got).toEqual(expected);
  });
});

function seen({ end, stdout, stderr }: ShufResult, { words, output, since }: ShufCase, place: string) {
  const isNewer = since !== undefined && version !== undefined && (version[0] - since[0] || version[1] - since[1]) < 0;
  const delimiter = words.some((word) => /^-e?z|^--zero/.test(word)) ? '\0' : '\n';
  const written = output === undefined ? '' : readFileSync(`${place}/${output}`, 'latin1');
  return {
    end,
    stderr: isNewer ? stderr.split("'")[0] : stderr,
    stdout: recordsOf(stdout.toString('latin1'), delimiter, words),
    written: recordsOf(written, delimiter, words),
  };
}

/** In an order that is always the same; their number, if they are drawn. */
function recordsOf(text: string, delimiter: string, words: readonly string[]): string[] | number {
  const records = text.split(delimiter);
  return words.some((word) => /^-[rez]*n|^--head/.test(word)) ? records.length : records.sort();
}
