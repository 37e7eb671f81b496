/**
 * All texts that a user may read, in one list, messages.txt: errors, warnings and help, so that whoever changes one sees
 * it among the others. `npm run docs:reference` writes it anew.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const list = new URL('messages.txt', import.meta.url);
/** Shorter ones are names, or parts of a message that stands beside them. */
const FEWEST_WORDS = 4;

/** The texts in quotes of a program, with {} for what a template fills in. Comments and regular expressions have none. */
function textsIn(program: string): readonly string[] {
  const token =
    /\/\/.*|\/\*[\s\S]*?\*\/|(?<=[(,=:[!&|?{};\n]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/[a-z]*|'(?:\\.|[^'\\])*'|`/g;
  const texts: string[] = [];
  /** Reads a template from its first character on. @returns the place after its end. */
  const readTemplate = (start: number): number => {
    let text = '';
    for (let at = start; ; at++) {
      if (program[at] === '`') {
        texts.push(text);
        return at + 1;
      }
      if (program[at] === '\\') text += program[++at];
      else if (program.startsWith('${', at)) {
        text += '{}';
        at = readCode(at + 2, true) - 1;
      } else text += program[at];
    }
  };
  const readCode = (start: number, isFilling: boolean): number => {
    let depth = 0;
    for (let at = start; at < program.length; at++) {
      token.lastIndex = at;
      const sign = program[at] ?? '';
      if (isFilling && sign === '{') depth += 1;
      if (isFilling && sign === '}') {
        if (depth === 0) return at + 1;
        depth -= 1;
      }
      if (!"/'`".includes(sign)) continue;
      const found = token.exec(program);
      if (found?.index !== at) continue;
      if (sign === '`') at = readTemplate(at + 1) - 1;
      else {
        if (sign === "'") texts.push(found[0].slice(1, -1).replaceAll("\\'", "'"));
        at += found[0].length - 1;
      }
    }
    return program.length;
  };
  readCode(0, false);
  return texts;
}

function isMessage(text: string): boolean {
  const words = text.replaceAll('{}', 'X').trim().split(/\s+/);
  return words.length >= FEWEST_WORDS && /[a-z]{2}/.test(text) && !/^[<:.#*@]|^ *\d|[{};]\s*$/m.test(text);
}

it('are all in messages.txt: run npm run docs:reference, and read what changed there', () => {
  const paths = ['src', 'workers'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
  );
  const programs = paths.filter((path) => /\.c?ts$/.test(path) && !/\/assembly\/|\.d\.ts$/.test(path)).sort();
  const lines = programs.flatMap((path) => {
    const texts = textsIn(readFileSync(path, 'utf8')).filter(isMessage);
    return texts.length === 0 ? [] : [path, ...texts.map((text) => `  ${text.trim().replaceAll('\n', '\n  ')}`), ''];
  });
  const text = lines.join('\n');
  if (process.env['PILESHUF_WRITE_REFERENCE'] === '1') writeFileSync(list, text);
  expect(text).toBe(readFileSync(list, 'utf8'));
});
