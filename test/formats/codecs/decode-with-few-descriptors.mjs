/** Decodes an input by a program with a given number of free descriptors, and prints the result. */
import { closeSync, openSync } from 'node:fs';
import { userProgram } from '#src/formats/codecs/programs.js';

const codec = userProgram(['cat']);
const memory = { reserve: () => false, budgetFor: () => '' };

async function decode() {
  let isGiven = false;
  const next = () => {
    const bytes = Buffer.from(isGiven ? '' : 'text\n');
    isGiven = true;
    return bytes;
  };
  const pieces = [];
  for await (const piece of codec.decode({ path: 'in', start: 0, next }, memory)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

// All modules are loaded, and everything that the first child process needs.
await decode();
const [left = 0] = process.argv.slice(2).map(Number);
const taken = [];
for (;;) {
  try {
    taken.push(openSync('/dev/null', 'r'));
  } catch {
    break;
  }
}
for (const fd of taken.splice(0, left)) closeSync(fd);
const outcome = await decode().catch((error) => `${error.code}: ${error.message}`);
for (const fd of taken) closeSync(fd);
process.stdout.write(outcome);
