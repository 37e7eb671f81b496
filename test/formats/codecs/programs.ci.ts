/**
 * Programs as codecs: their output is the content of an input if they succeed, and every failure is an error.
 * Afterwards the process is gone and no descriptor is left.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { AbortError, InputError, UsageError } from '#src/errors.js';
import type { Codec, CompressedSource } from '#src/formats/codec.js';
import { bzip2, lz4, userProgram, xz } from '#src/formats/codecs/programs.js';
import { closeFile, openForRead } from '#src/io/files.js';
import { fromCi } from '../../fixtures/scale.js';
import { useTestDirectory } from '../../fixtures/temp-directory.js';

const directory = useTestDirectory();
const NO_MEMORY = { reserve: () => expect.fail('a program takes memory of the job'), budgetFor: () => '' };

function sourceOf(bytes: Uint8Array, pieceBytes = 100_000): CompressedSource {
  let start = 0;
  return {
    path: 'in',
    start: 0,
    next: () => {
      const piece = Uint8Array.from(bytes.subarray(start, start + pieceBytes));
      start += piece.byteLength;
      return piece;
    },
  };
}

async function decode(codec: Codec, source: CompressedSource): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of codec.decode(source, NO_MEMORY)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

const shell = (script: string) => userProgram(['sh', '-c', script]);

async function refusal(codec: Codec, source: CompressedSource): Promise<string> {
  const error = await decode(codec, source).then(
    () => expect.fail('it was accepted'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(InputError);
  return error instanceof Error ? error.message : '';
}

/** What other tests in this process leave is none of this one's. */
let strangers: readonly string[] = [];
beforeEach(() => {
  strangers = [];
  strangers = children();
});

/** Children of this process since the test began, zombies too. */
function children(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (strangers.includes(pid) || !/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/stat`)) return false;
    try {
      const [, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return parent === String(process.pid);
    } catch {
      // It has just ended.
      return false;
    }
  });
}

const descriptors = () => readdirSync('/proc/self/fd').length;

const input = Buffer.from(Array.from({ length: 200_000 }, (_, i) => `${i}\n`).join(''));

describe('a program that decodes', () => {
  it('gets all of the input, and gives all that it writes', async () => {
    for (const pieceBytes of [1000, 100_000, 2 ** 20]) {
      expect((await decode(userProgram(['cat']), sourceOf(input, pieceBytes))).equals(input)).toBe(true);
    }
    expect((await decode(userProgram(['wc', '-c']), sourceOf(input))).toString().trim()).toBe(`${input.byteLength}`);
    expect(await decode(userProgram(['cat']), sourceOf(new Uint8Array()))).toHaveLength(0);
  });

  it('gets its arguments as they are', async () => {
    const words = ['a b', '', '$HOME', "'", '*', ';', '\n'];
    const output = await decode(userProgram(['printf', '%s|', ...words]), sourceOf(new Uint8Array()));
    expect(output.toString()).toBe(words.map((word) => `${word}|`).join(''));
  });

  it('has no descriptor of this process but the three', async () => {
    writeFileSync(directory.path('secret'), 'secret');
    const file = openForRead(directory.path('secret'), 'input');
    const output = await decode(shell('ls -l /proc/self/fd; cat > /dev/null'), sourceOf(input));
    closeFile(file);
    expect(output.toString()).toMatch(/ 0 -> .* 1 -> .* 2 -> /s);
    expect(output.toString()).not.toContain(directory.path('secret'));
  });
});

describe('a program that does not', () => {
  it.each([
    ['exit 3', "`sh -c 'exit 3'` ended with exit code 3 and said nothing"],
    ['cat; exit 1', "`sh -c 'cat; exit 1'` ended with exit code 1 and said nothing"],
    [
      'echo no such format >&2; exit 2',
      "`sh -c 'echo no such format >&2; exit 2'` ended with exit code 2 and said: no such format",
    ],
    ['kill -SEGV $$', "`sh -c 'kill -SEGV $$'` was ended by SIGSEGV and said nothing"],
    ['cat >/dev/null; kill -KILL $$', "`sh -c 'cat >/dev/null; kill -KILL $$'` was ended by SIGKILL and said nothing"],
  ])('ends the job: %s', async (script, what) => {
    expect(await refusal(shell(script), sourceOf(input))).toBe(`in: ${what}`);
  });

  it('tells in one harmless line the end of what it said', async () => {
    const script = `seq 5000 >&2; printf 'red \\033[31m\\r\\n\\t\\0bell\\007 \\377\\n' >&2; exit 1`;
    const message = await refusal(shell(script), sourceOf(input));
    expect(message).toMatch(/and said: \.\.\.[\d ]+ 4999 5000 red \[31m bell \?$/);
    expect(message.length).toBeLessThan(700);
    expect(message).not.toMatch(/[\p{Cc}]/u);
  });

  it('is not there', async () => {
    for (const words of [['no-such-program'], ['/no/such/program', '-d'], ['./README.md']]) {
      const codec = userProgram(words);
      const message = `\`decompressProgram\`: there is no program ${words[0]}; check the name and PATH`;
      await expect(codec.load?.('in')).rejects.toThrow(new UsageError(message));
      if (words[0] === './README.md') continue;
      await expect(decode(codec, sourceOf(input))).rejects.toThrow(new UsageError(message));
    }
    await userProgram(['sh']).load?.('in');
  });

  it('cannot be started', async () => {
    writeFileSync(directory.path('text'), 'text', { mode: 0o644 });
    mkdirSync(directory.path('directory'));
    for (const name of ['text', 'directory']) {
      await expect(decode(userProgram([directory.path(name)]), sourceOf(input))).rejects.toMatchObject({
        code: 'ERR_IO',
        message: `in: cannot start \`${directory.path(name)}\`: permission denied`,
      });
    }
  });
});

describe('when the job is to stop', () => {
  it.each([
    'sleep 20',
    'cat >/dev/null; sleep 20',
    'echo a; exec 1>&-; sleep 20',
    'yes | sleep 20',
    'trap "" INT TERM; sleep 20',
  ])('a program that is silent is ended: %s', async (script) => {
    let mustStop = false;
    const source: CompressedSource = {
      ...sourceOf(input),
      throwIfAborted: () => {
        if (mustStop) throw new AbortError();
      },
    };
    const decoded = decode(shell(script), source);
    decoded.catch(() => {});
    await delay(100);
    mustStop = true;
    await expect(decoded).rejects.toBeInstanceOf(AbortError);
    expect(children()).toEqual([]);
  });

  it('a program that was ended by the same Ctrl-C is not a failure of its own', async () => {
    let mustStop = false;
    const source: CompressedSource = {
      ...sourceOf(input),
      throwIfAborted: () => {
        if (mustStop) throw new AbortError();
      },
    };
    setTimeout(() => {
      mustStop = true;
    }, 100);
    await expect(decode(shell('kill -INT $$'), source)).rejects.toBeInstanceOf(AbortError);
  });
});

describe('afterwards', () => {
  it.runIf(fromCi)('there is neither a child nor a descriptor', async () => {
    await decode(userProgram(['cat']), sourceOf(input));
    const before = descriptors();
    for (const words of [
      ['cat'],
      ['head', '-c1'],
      ['sh', '-c', 'exit 1'],
      ['no-such-program'],
      ['sh', '-c', 'kill -9 $$'],
    ]) {
      for (let i = 0; i < 3; i++) await decode(userProgram(words), sourceOf(input)).catch(() => {});
    }
    expect(children()).toEqual([]);
    expect(descriptors()).toBe(before);
  });

  it('there is none either when nobody wants more of its output', async () => {
    const before = descriptors();
    for (const words of [['yes'], ['cat'], ['sh', '-c', 'echo a; sleep 20']]) {
      for await (const piece of userProgram(words).decode(sourceOf(input), NO_MEMORY)) {
        expect(piece.byteLength).toBeGreaterThan(0);
        break;
      }
      expect(children()).toEqual([]);
    }
    expect(descriptors()).toBe(before);
  });

  it('there is none either when the input cannot be read', async () => {
    const failure = new InputError('ERR_INPUT_UNREADABLE', 'in: it is gone');
    let reads = 0;
    const next = () => {
      reads += 1;
      if (reads === 3) throw failure;
      return new Uint8Array(10);
    };
    for (const script of ['cat', 'sleep 20', 'cat > /dev/null; sleep 20']) {
      reads = 0;
      await expect(decode(shell(script), { path: 'in', start: 0, next })).rejects.toBe(failure);
      expect(children()).toEqual([]);
    }
  });
});

it.runIf(fromCi)('too few descriptors are told', () => {
  const script = fileURLToPath(new URL('decode-with-few-descriptors.mjs', import.meta.url));
  const outcomes = Array.from({ length: 9 }, (_, left) => {
    const words = ['-c', 'ulimit -n 100; exec "$@"', 'bash', process.execPath, script, String(left)];
    return execFileSync('bash', words, { encoding: 'utf8' });
  });
  const tooFew = 'ERR_IO: in: cannot start `cat`: too many open files (raise `ulimit -n`)';
  expect([...new Set(outcomes)]).toEqual([tooFew, 'text\n']);
  expect(outcomes.indexOf('text\n')).toBeLessThanOrEqual(8);
});

describe('bzip2, xz and lz4', () => {
  it.each<[Codec, readonly string[]]>([
    [bzip2, ['425a6839314159265359', '425a6831314159265359', '425a683917724538509000000000']],
    [xz, ['fd377a585a000004']],
    [lz4, ['04224d186440a7', '02214c18']],
  ])('are known by their magic bytes: $name', (codec, heads) => {
    for (const head of heads) {
      const bytes = Buffer.from(head, 'hex');
      expect(codec.matches(bytes)).toBe(true);
      bytes[2] = (bytes[2] ?? 0) ^ 1;
      expect(codec.matches(bytes)).toBe(false);
    }
    expect(codec.matches(Buffer.from('BZh9 is not a word'))).toBe(false);
    expect(codec.matches(new Uint8Array())).toBe(false);
  });
});
