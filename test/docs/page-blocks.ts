/** The blocks of code of the pages, and the examples of the help: what commands.ci.ts runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COMMAND_NAMES } from '#src/cli/command-table.js';
import { findCommand } from '#src/cli/run-command.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const textOf = (page: string) => readFileSync(`${root}/${page}`, 'utf8');
export const docs = readdirSync(`${root}/docs`)
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);

export interface Block {
  readonly page: string;
  readonly kind: 'sh' | 'js' | 'yaml';
  readonly text: string;
  /** The file that the text before the block names last: that of a block of YAML. */
  readonly file: string;
}

/** Fenced blocks, and groups of lines that are indented by four spaces and call a program of a shell. */
export function blocksOf(page: string): Block[] {
  const text = textOf(page);
  const blocks: Block[] = [];
  for (const match of text.matchAll(
    /^```(sh|js|ts|yaml)\n(.*?)^```$|((?:^ {4}(?:pileshuf|npx|python3|[A-Z]+=)[^\n]*\n)+)/gms,
  )) {
    const [, kind, fenced, indented = ''] = match;
    const file = /`([\w.-]+)`[^`]*$/.exec(text.slice(0, match.index))?.[1] ?? '';
    const body = fenced ?? indented.replace(/^ {4}/gm, '');
    blocks.push({ page, kind: kind === 'ts' ? 'js' : ((kind ?? 'sh') as Block['kind']), text: body, file });
  }
  return blocks;
}

/** The examples of `--help`, of all commands. */
export async function examplesOfHelp(): Promise<Block[]> {
  const names = COMMAND_NAMES;
  const commands = await Promise.all(names.map((name) => findCommand(name)));
  const notes = commands.flatMap(({ notes, brief }) => [notes, brief?.notes ?? '']);
  const lines = notes.flatMap(
    (text) => text.replaceAll(/\\\n\s*/g, '').match(/^ {2}(?:.*\| |find .*)?pileshuf .*$/gm) ?? [],
  );
  return lines.map((line) => ({ page: '--help', kind: 'sh', text: `${line.trim()}\n`, file: '' }));
}
