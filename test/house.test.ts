/**
 * The house stays tidy: imports go down from room to room and never in a circle, the map in docs/ARCHITECTURE.md names
 * the rooms, words that the project does not use stay out, and comments name only files that exist.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The rooms from the top down, each with what stands beside it. A file imports only from its own room and from below. */
const FLOORS: readonly (readonly string[])[] = [
  ['src/cli'],
  ['src/index.ts'],
  ['src/cluster', 'src/checks', 'src/report'],
  ['src/job', 'src/loader'],
  ['src/stages'],
  ['workers'],
  ['src/options'],
  ['src/sources', 'src/store', 'src/places/outputs', 'src/record-index'],
  ['src/sinks'],
  ['src/job-directory'],
  ['src/spec.ts'],
  ['src/keep'],
  ['src/plan', 'src/formats'],
  ['src/places/inputs'],
  ['src/piles', 'src/machine', 'src/remote'],
  ['src/io'],
  ['src/values', 'src/floor'],
  ['src/errors.ts'],
];

/** The rooms inside `workers`, from the top down. */
const WORKER_FLOORS: readonly (readonly string[])[] = [
  ['workers/task-thread.cts'],
  ['workers/tasks.ts'],
  ['workers/tasks'],
  ['workers/piles'],
  ['workers/read'],
  ['workers/thread-state.ts'],
  ['workers/settings.ts', 'workers/arena.ts', 'workers/thread-urls.ts', 'workers/pool-owner.cts'],
  ['workers/kernel'],
];

const allFiles = ['src', 'workers'].flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
);
const sources = allFiles.filter(
  (path) => /\.c?ts$/.test(path) && !path.includes('/assembly/') && !path.endsWith('.d.ts'),
);
const textOf = new Map(sources.map((path) => [path, readFileSync(path, 'utf8')]));

/** The files of the house that a file imports, types included. */
function importsOf(path: string): string[] {
  const specifiers = [...(textOf.get(path) ?? '').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, name]) => name);
  return specifiers.map((name = '') =>
    normalize(join(dirname(path), name.replace(/\.cjs$/, '.cts').replace(/\.js$/, '.ts'))),
  );
}

/** The names in statements of a file that match, each as `NAME of FILE`. */
function namesFrom(path: string, statement: RegExp): string[] {
  return [...(textOf.get(path) ?? '').matchAll(statement)].flatMap(([, names = '', from = '']) => {
    const target = normalize(join(dirname(path), from.replace(/\.js$/, '.ts')));
    const each = names.split(',').map((name) => name.trim().replace(/^type /, ''));
    return each.filter((name) => name !== '').map((name) => `${name} of ${target}`);
  });
}

/** The place of a file in a list of floors: its floor and its room. */
function placeIn(floors: readonly (readonly string[])[], path: string): { floor: number; room: string } {
  for (const [floor, rooms] of floors.entries()) {
    const room = rooms.find((each) => path === each || path.startsWith(`${each}/`));
    if (room !== undefined) return { floor, room };
  }
  return expect.fail(`${path} lies in no room`);
}

function importsThatRunUp(floors: readonly (readonly string[])[], paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const from = placeIn(floors, path);
    return importsOf(path)
      .filter((target) => paths.includes(target))
      .filter((target) => {
        const to = placeIn(floors, target);
        if (to.room === from.room) return false;
        return to.floor <= from.floor;
      })
      .map((target) => `${path} -> ${target}`);
  });
}

describe('imports', () => {
  it('go down from room to room', () => {
    expect(importsThatRunUp(FLOORS, sources)).toEqual([]);
  });

  it('go down inside workers', () => {
    const workers = sources.filter((path) => path.startsWith('workers/'));
    expect(importsThatRunUp(WORKER_FLOORS, workers)).toEqual([]);
  });

  it('make no circle, not even of types', () => {
    const circles: string[] = [];
    const state = new Map<string, 'open' | 'done'>();
    const visit = (path: string, trail: readonly string[]): void => {
      if (state.get(path) === 'open') circles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      if (state.has(path)) return;
      state.set(path, 'open');
      for (const target of importsOf(path)) if (textOf.has(target)) visit(target, [...trail, path]);
      state.set(path, 'done');
    };
    for (const path of sources) visit(path, []);
    expect(circles).toEqual([]);
  });

  /** How it is loaded and started; which outputs lie elsewhere; how addresses are shown; options, and what people type for them; errors of the system, and sizes, as the library has them. */
  const SAME_WORDS =
    / of src\/(values\/[a-z-]+\.ts|formats\/framing-table\.ts|options\/[a-z-]+\.ts|io\/io-error\.ts|remote\/address\.ts|machine\/open-file-limit\.ts|machine\/nohup\.ts|places\/inputs\/input-kinds\.ts|places\/outputs\/output-kinds\.ts|floor\/code-cache\.cjs)$/;

  it('of the command reach only what the public API exports', () => {
    const exported = namesFrom('src/index.ts', /export (?:type )?\{([^}]*)\} from '([^']*)'/g);
    const commands = sources.filter((path) => path.startsWith('src/cli/'));
    const foreign = commands.flatMap((path) =>
      namesFrom(path, /import (?:type )?\{([^}]*)\} from '(\.[^']*)'/g)
        .filter(
          (name) => !name.endsWith(' of src/index.ts') && !/ of src\/cli\//.test(name) && !exported.includes(name),
        )
        .map((name) => `${path} imports ${name}`)
        .filter((name) => !SAME_WORDS.test(name)),
    );
    expect(foreign).toEqual([]);
    expect(commands.length).toBeGreaterThan(10);
  });

  it('of the planner reach no file, clock or chance', () => {
    const planners = sources.filter((path) => /^src\/(plan|keep)\//.test(path));
    const impure = planners.filter((path) => /'node:|Date\.|performance|Math\.random/.test(textOf.get(path) ?? ''));
    expect(impure).toEqual([]);
  });
});

describe('rooms', () => {
  it('are those on the map in docs/ARCHITECTURE.md', () => {
    const map = readFileSync('docs/ARCHITECTURE.md', 'utf8');
    const named = [...map.matchAll(/^- `((?:src|workers)[\w/-]*)`/gm)].map(([, room]) => room);
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const inWorkers = readdirSync('workers', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const rooms = [...folders.map(({ name }) => `src/${name}`), ...inWorkers.map(({ name }) => `workers/${name}`)];
    expect(named.toSorted()).toEqual(rooms.toSorted());
  });

  it('have no drawers for odds and ends', () => {
    const drawers = /^(utils?|helpers?|common|types|misc|shared)(\.ts)?$/;
    expect(sources.flatMap((path) => path.split('/')).filter((name) => drawers.test(name))).toEqual([]);
  });
});

describe('words', () => {
  /** Word or phrase, and what the project says instead. Disks have partitions, and so has Slurm; S3 has buckets. */
  const UNUSED: readonly { readonly word: RegExp; readonly say: string; readonly except?: RegExp }[] = [
    {
      word: /\bpartitions?\b/i,
      say: 'pile, slice or range',
      except: /^src\/(machine\/|cluster\/slurm-|cli\/commands\/cluster-slurm-command\.|options\/cluster-options\.)/,
    },
    { word: /(?<!s3:\/\/|-)\bbuckets?\b(?!-)/i, say: 'pile', except: /^src\/remote\// },
    { word: /\bgone? on with\b|\bgoes on with\b/, say: 'resume' },
    { word: /\bbeg[iu]n anew\b/, say: 'start anew' },
    { word: /\b(earlier|former|later|next|former|another|same) runs?\b/, say: 'attempt or job' },
    { word: /\bwhat there is of\b/, say: 'the name of the thing' },
    { word: /\btaken for dead\b/, say: 'judged to be left over' },
    {
      word: /(?<!\bthere )\b(is|are|was|were) no (?!(longer|more|such|other|others|larger|faster|limit|default)\b)/i,
      say: 'is not a',
    },
    { word: /\b(lies|ends|begins|starts|stands|comes|bytes?|text) behind\b/, say: 'after' },
  ];

  it.each(UNUSED)('$word are not used: say $say', ({ word, except }) => {
    const others = sources.filter((path) => except?.test(path) !== true);
    const found = others.flatMap((path) =>
      (textOf.get(path) ?? '')
        .split('\n')
        .flatMap((line, i) => (word.test(line.replace(/\.split\(/g, '')) ? [`${path}:${i + 1} ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });
});

describe('tests', () => {
  it('draw nothing but from the seed of the cases', () => {
    const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mjs)$/.test(name))
      .map((name) => join('test', name));
    const unseeded =
      /\b(Math\.random|randomBytes|randomInt|randomUUID|randomFillSync|getRandomValues)\(|\bseedrandom\(\)/;
    const found = tests.filter((path) => unseeded.test(readFileSync(path, 'utf8')));
    expect(found).toEqual([]);
  });
});

describe('comments', () => {
  it('name only files that exist', () => {
    const places = (path: string, name: string) =>
      name.includes('/')
        ? [name, join('src', name), join(dirname(path), name), join('src', basename(dirname(path)), name)]
        : [join(dirname(path), name), ...allFiles.filter((file) => basename(file) === name)];
    const missing = sources.flatMap((path) =>
      [...(textOf.get(path) ?? '').matchAll(/(?:^\s*(?:\*|\/\/|\/\*\*)|\/\/).*$/gm)].flatMap(([line]) =>
        [...line.matchAll(/[\w./-]+\.(?:c?ts|mjs|md)\b/g)]
          .map(([name]) => name)
          .filter((name) => !places(path, name).some((place) => existsSync(place)))
          .map((name) => `${path}: ${name}`),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('that document begin with a subject or a verb', () => {
    const words =
      'Of|As|By|With|Without|In|From|For|At|On|To|Under|Beside|Behind|Between|Before|After|Until|Inside|Among|Above|Below|' +
      'Where|Who|Whose|What|Which|Whether|If|When|Else|Also|Only|So|Like|Because|Since|These|Those|Undefined:|Absent:|' +
      'Called|Counted|Given|Known|Made|Taken|Used|Written';
    const begin = new RegExp(`/\\*\\*\\s+(?:\\* )?(?:${words})(?![\\w-]).*`, 'g');
    const found = sources.flatMap((path) =>
      [...(textOf.get(path) ?? '').matchAll(begin)].map(([text]) => `${path}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});
