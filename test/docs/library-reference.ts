/**
 * docs/LIBRARY.md and the pages beside it, generated from the types of the package and the comments in them: what an
 * editor shows of a name is what the page says.
 */
import { readFileSync } from 'node:fs';
import ts from '@typescript/typescript6';

const GENERATED = '`npm run docs:reference` writes this page from the types of the package, so do not edit it.';
const BACK = '[LIBRARY.md](LIBRARY.md) lists all names.';

interface LibraryPage {
  readonly title: string;
  /** What it is for, in a sentence. */
  readonly purpose: string;
  /** Functions and types in the order in which the page has them, by their headings. */
  readonly topics: Readonly<Record<string, readonly string[]>>;
}

const FIRST_PAGE = 'LIBRARY.md';

const PAGES: Readonly<Record<string, LibraryPage>> = {
  [FIRST_PAGE]: {
    title: 'The library',
    purpose: 'All functions, types and errors of the library, for programs that call pileshuf.',
    topics: { Errors: ['PileshufError', 'ErrorKind', 'UnfinishedJob', 'ErrorCode'] },
  },
  'LIBRARY-SHUFFLE.md': {
    title: 'The library: shuffle',
    purpose: 'The function `shuffle` and every option that it takes, with type, unit and default.',
    topics: { Function: ['shuffle'], Options: ['ShuffleOptions'] },
  },
  'LIBRARY-VALUES.md': {
    title: 'The library: values of options',
    purpose: 'What options of `shuffle` and other functions may be, where that is more than a number or a text.',
    topics: {
      'Inputs and records': ['NamedInput', 'InputIdRule', 'KeyRule', 'RecordKind', 'HeaderKind'],
      'What the output has': ['SplitRule', 'InputWeight', 'Mix', 'MixGroup'],
      'How the output is written': ['ShardRule', 'SplitShards', 'OutputCompression', 'ReportFile'],
    },
  },
  'LIBRARY-REPORTS.md': {
    title: 'The library: reports and progress of shuffle',
    purpose: 'What `shuffle` gives back: its result, its progress, and all about the job.',
    topics: {
      Result: ['ShuffleReport', 'SplitReport', 'GroupReport'],
      Progress: ['ShuffleProgress', 'JobPhase', 'PhaseCost', 'DiskProgress'],
      'Where the time went': ['JobProfile', 'PassSeconds', 'PhaseSeconds', 'Phase'],
      'All about the job': [
        'JobReport',
        'ReportFacts',
        'SampledRecord',
        'SelfCheck',
        'ExpectedRange',
        'PileSizes',
        'WatchedDevice',
        'DeviceTraffic',
        'Moment',
      ],
    },
  },
  'LIBRARY-JOBS.md': {
    title: 'The library: other jobs',
    purpose: 'The functions beside `shuffle`: aligned files, numbers, previews of jobs, and single records of a file.',
    topics: {
      'Aligned files': ['shuffleTogether', 'ShuffleTogetherOptions', 'ShuffleTogetherReport', 'MemberReport'],
      Numbers: ['shuffleRange', 'RangeOptions', 'RangeReport'],
      'What a job will need': [
        'previewShuffle',
        'previewTogether',
        'PreviewOptions',
        'ShufflePreview',
        'TogetherPreviewOptions',
        'TogetherPreview',
        'MemberPreview',
        'PreviewedSplit',
        'PreviewedDevice',
        'PreviewedTime',
        'PreviewedPass',
        'SecondsRange',
        'Expected',
        'MemoryOfPass1',
        'MemoryOfPass2',
        'Advice',
        'readMemory',
        'Memory',
      ],
      'Single records of a file': [
        'indexFile',
        'IndexOptions',
        'IndexReport',
        'openIndexed',
        'IndexedFileOptions',
        'IndexedFile',
      ],
    },
  },
  'LIBRARY-CHECKS.md': {
    title: 'The library: checks',
    purpose: 'The functions that verify outputs, and that say whether files are shuffled.',
    topics: {
      'The same records': [
        'verifyPermutation',
        'VerifyOptions',
        'ReadOptions',
        'VerifyReport',
        'VerifiedSide',
        'RecordDifferences',
        'RecordDifference',
        'RecordPlace',
      ],
      'All shards': ['verifyShards', 'ShardsReport', 'ShardSet'],
      'A random order': [
        'checkShuffled',
        'CheckOptions',
        'CheckReport',
        'OrderReport',
        'OrderVerdict',
        'OrderTestReport',
        'SimilarityAt',
        'FamilyTail',
      ],
    },
  },
  'LIBRARY-LOADER.md': {
    title: 'The library: loaders',
    purpose: 'The functions that read a pile store in random order while a program trains.',
    topics: {
      'Open a store': ['openStore', 'OpenStoreOptions', 'OpenedStore'],
      'Read it': ['LoaderOptions', 'Loader', 'BatchOptions', 'RecordBatch', 'LoaderState'],
      'Write epochs': ['writeEpochs', 'WriteOptions', 'WriteReport'],
    },
  },
  'LIBRARY-STORES.md': {
    title: 'The library: pile stores',
    purpose: 'The functions that add to a pile store, write it out, look at it and clean it up.',
    topics: {
      'Add files': ['appendToStore', 'AppendOptions', 'AppendReport'],
      'Add records from a program': ['openPileWriter', 'PileWriterOptions', 'PileWriter', 'PileCommit'],
      'Write it out': ['shuffleStore', 'ShuffleStoreOptions'],
      'Look at it': ['inspectStore', 'InspectOptions', 'StoreReport', 'GenerationSummary', 'UnownedPileSets'],
      'Clean it up': [
        'expireStore',
        'ExpireRule',
        'GarbageOptions',
        'ExpireReport',
        'collectStore',
        'CollectOptions',
        'CollectedGarbage',
      ],
    },
  },
  'LIBRARY-CLUSTER.md': {
    title: 'The library: several machines',
    purpose: 'The functions that shuffle with several machines, by tasks or by Slurm.',
    topics: {
      Plan: [
        'planCluster',
        'ClusterJobOptions',
        'ClusterPlanOptions',
        'ClusterAppendOptions',
        'ClusterStoreShuffleOptions',
        'ClusterPlanReport',
      ],
      Tasks: ['runClusterTask', 'TaskKind', 'ClusterTaskOptions', 'ClusterTaskReport', 'ClusterOutput'],
      'Where the time went': ['ClusterProfile', 'ClusterPassProfile', 'ClusterTaskProfile', 'TimedTask', 'TaskSteps'],
      Status: ['clusterStatus', 'ClusterStatus', 'PassStatus', 'RunningAttempt', 'FailedTask', 'CommittedOutput'],
      Slurm: [
        'submitToSlurm',
        'SlurmOptions',
        'SlurmTaskOptions',
        'SlurmSubmission',
        'SubmittedJob',
        'resumeOnSlurm',
        'SlurmResumeOptions',
        'describeSlurm',
        'followSlurm',
        'SlurmFollowOptions',
        'SlurmOutcome',
        'submitLaterToSlurm',
        'SlurmLaterOptions',
        'SlurmPlanJob',
        'describeLaterOnSlurm',
        'slurmQueue',
        'SlurmQueueEntry',
      ],
    },
  },
};

export const LIBRARY_PAGES = Object.keys(PAGES);
/** What the pages have. */
export const DESCRIBED_NAMES: readonly string[] = [
  ...Object.values(PAGES).flatMap(({ topics }) => Object.values(topics).flat()),
  // Below PileshufError.
  'UsageError',
  'InputError',
  'SystemError',
  'VerificationError',
  'AbortError',
  'ClosedPipeError',
];

type Declared =
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.FunctionDeclaration
  | ts.ClassDeclaration
  | ts.VariableDeclaration;

/** Parameters for tests, and for the command itself. */
const HIDDEN = /^(?:tuning|program|readText|startSeconds)$/;
const types = readFileSync(new URL('../../dist/bundle/index.d.ts', import.meta.url), 'utf8');
const source = ts.createSourceFile('index.d.ts', types, ts.ScriptTarget.Latest, true);
const declared = new Map<string, Declared>();
export const EXPORTED_NAMES: string[] = [];
for (const statement of source.statements) {
  if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause))
    EXPORTED_NAMES.push(...statement.exportClause.elements.map(({ name }) => name.text));
  else if (ts.isVariableStatement(statement))
    for (const one of statement.declarationList.declarations) declared.set(one.name.getText(), one);
  else if (
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement)
  )
    declared.set(statement.name?.text ?? '', statement);
}

/** Types that a page names and no page describes, because the package does not export them. */
export function hiddenNames(): string[] {
  const named = new Set(LIBRARY_PAGES.flatMap((page) => libraryReference(page).match(/\b[A-Z]\w+\b/g) ?? []));
  return [...named].filter((name) => declared.has(name) && !DESCRIBED_NAMES.includes(name));
}

/** Functions and classes without a sentence about them. */
export function withoutComment(): string[] {
  return DESCRIBED_NAMES.filter((name) => {
    const declaration = declarationOf(name);
    const isCalled = ts.isFunctionDeclaration(declaration) || ts.isClassDeclaration(declaration);
    return isCalled && commentOf(declaration) === '';
  });
}

/** Options of a call that say no default. */
export function optionsWithoutDefault(): string[] {
  const optional = EXPORTED_NAMES.filter((name) => /Options$/.test(name)).flatMap((name) => {
    const declaration = declared.get(name);
    if (declaration === undefined || !ts.isInterfaceDeclaration(declaration)) return [];
    return declaration.members.flatMap((member) =>
      ts.isPropertySignature(member) && member.questionToken !== undefined ? [{ name, member }] : [],
    );
  });
  // What is called or watched only if it is given needs no default.
  const isOfCaller = (member: ts.PropertySignature) => /^(?:signal|on[A-Z]\w*)$/.test(member.name.getText());
  return optional
    .filter(({ member }) => !isOfCaller(member) && !/default/i.test(commentOf(member)))
    .map(({ name, member }) => `${name}.${member.name.getText()}`);
}

export function libraryReference(page: string): string {
  const described = PAGES[page];
  if (described === undefined) throw new RangeError(`${page} is no page of the library`);
  const { title, purpose, topics } = described;
  const parts = Object.entries(topics).map(([topic, names]) =>
    [`## ${topic}\n`, ...names.map((name) => describe(name))].join('\n'),
  );
  if (page === FIRST_PAGE) return [`# ${title}\n\n${purpose} ${GENERATED}\n`, firstPage(), ...parts].join('\n');
  return [`# ${title}\n\n${purpose} ${BACK}\n${GENERATED}\n`, ...parts].join('\n');
}

function firstPage(): string {
  const others = Object.entries(PAGES).filter(([page]) => page !== FIRST_PAGE);
  const lists = others.map(([page, { title, purpose, topics }]) => {
    const names = Object.values(topics).flat();
    const linkTo = (name: string) => `[\`${name}\`](${page}#${name.toLowerCase()})`;
    const [functions, rest] = [names.filter(isFunction), names.filter((name) => !isFunction(name))];
    const heading = title.replace('The library: ', '').replace(/^./, (letter) => letter.toUpperCase());
    const lines = functions.map((name) => `- ${linkTo(name)}: ${firstSentence(commentOf(declarationOf(name)))}`);
    return [
      `### ${heading}`,
      `${purpose} Page: [${page}](${page}).`,
      lines.join('\n'),
      `Types: ${rest.map(linkTo).join(', ')}.`,
    ]
      .filter((part) => part !== '')
      .join('\n\n')
      .concat('\n');
  });
  return `[EMBEDDING.md](EMBEDDING.md) says how to use the library in CommonJS, with bundlers and with Jest.

- Names of quantities end in their unit: \`Bytes\`, \`Seconds\`, \`Milliseconds\`. Other numbers are counts. In reports,
  \`bytes\` and \`seconds\` stand for themselves.
- An option with \`?\` may be left out or \`undefined\`; its text says the default.
- All objects and arrays are read-only for the library: it does not change what you give.
- A \`tuning\` parameter makes buffers small for tests. You do not need it.

## Functions and types

${lists.join('\n')}`;
}

const firstSentence = (text: string) => /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text;

/** The comment of a declaration, on one line each paragraph. */
function commentOf(node: ts.Node): string {
  // The comment of a file may stand before that of its first declaration.
  const own = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).at(-1);
  return tidy(ts.getTextOfJSDocComment(own?.comment) ?? '');
}

function tidy(comment: string): string {
  return linked(
    comment
      .split(/\n(?=```)|(?<=```)\n(?=\S)/)
      .map((part) => (part.startsWith('```') ? part : part.replace(/(?<!\n)\n(?!\n)/g, ' ')))
      .join('\n\n'),
  ).trim();
}

/** Pages of the documents become links. */
const linked = (text: string) => text.replace(/\bdocs\/([A-Z-]+\.md)/g, '[$1]($1)');

function tagsOf(node: ts.Node): string[] {
  return ts.getJSDocTags(node).flatMap((tag) => {
    const text = tidy(ts.getTextOfJSDocComment(tag.comment) ?? '').replaceAll('\n', ' ');
    if (ts.isJSDocThrowsTag(tag)) return [`Throws ${[tag.typeExpression?.getText(), text].filter(Boolean).join(' ')}`];
    if (ts.isJSDocParameterTag(tag) && !HIDDEN.test(tag.name.getText())) return [`\`${tag.name.getText()}\`: ${text}`];
    return [];
  });
}

function declarationOf(name: string): Declared {
  const declaration = declared.get(name);
  if (declaration === undefined) throw new RangeError(`the package has no ${name}`);
  return declaration;
}

const isFunction = (name: string) => ts.isFunctionDeclaration(declarationOf(name));

function describe(name: string): string {
  const declaration = declarationOf(name);
  return [`### ${name}`, ...partsOf(declaration, name)]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

function partsOf(declaration: Declared, name: string): string[] {
  if (ts.isFunctionDeclaration(declaration))
    return [code(`${name}${signatureOf(declaration)}`), commentOf(declaration), list(tagsOf(declaration))];
  if (ts.isInterfaceDeclaration(declaration))
    return [
      commentOf(declaration),
      ...sentencesOfBases(declaration),
      list([...membersOfBases(declaration), ...declaration.members].flatMap((one) => memberLines(one))),
    ];
  if (ts.isClassDeclaration(declaration))
    return [
      commentOf(declaration),
      list(declaration.members.flatMap((one) => memberLines(one))),
      list(name === 'PileshufError' ? subclasses() : []),
    ];
  if (ts.isTypeAliasDeclaration(declaration)) return [commentOf(declaration), ...typeParts(declaration.type)];
  return [];
}

function subclasses(): string[] {
  return [...declared].flatMap(([name, one]) =>
    ts.isClassDeclaration(one) && one.heritageClauses?.some((clause) => /\bPileshufError\b/.test(clause.getText()))
      ? [`\`${name}\`: ${commentOf(one)}`]
      : [],
  );
}

const mark = (node: ts.Node) => ('questionToken' in node && node.questionToken !== undefined ? '?' : '');
const code = (text: string) => `\`\`\`ts\n${text}\n\`\`\``;
const list = (lines: readonly string[]) => lines.map((line) => (line.startsWith('  ') ? line : `- ${line}`)).join('\n');

function signatureOf(node: ts.FunctionDeclaration | ts.MethodDeclaration): string {
  const parameters = node.parameters.filter((one) => !HIDDEN.test(one.name.getText()));
  const texts = parameters.map((one) => {
    const own = ts.isIdentifier(one.name) ? one.name.text : 'options';
    return `${own}${mark(one)}: ${typeText(one.type)}`;
  });
  return `(${texts.join(', ')}): ${typeText(node.type)}`;
}

/** Names that the package does not export are written out. */
function withoutHidden(text: string): string {
  return text
    .replace(/\(typeof (\w+)\)\[number\]/g, (whole, name: string) => {
      const list = declared.get(name);
      return list !== undefined && ts.isVariableDeclaration(list)
        ? [...(list.type?.getText() ?? '').matchAll(/"([^"]+)"/g)].map(([, one]) => `'${one}'`).join(' | ')
        : whole;
    })
    .replace(/\b([A-Z]\w+)\['(\w+)'\]/g, (whole, name: string, key: string) => {
      const owner = EXPORTED_NAMES.includes(name) ? undefined : declared.get(name);
      if (owner === undefined || !ts.isInterfaceDeclaration(owner)) return whole;
      const member = owner.members.find((one) => one.name?.getText() === key);
      return member !== undefined && ts.isPropertySignature(member) ? typeText(member.type) : whole;
    })
    .replace(/\b[A-Z]\w+\b/g, (name) => {
      const alias = EXPORTED_NAMES.includes(name) ? undefined : declared.get(name);
      return alias !== undefined && ts.isTypeAliasDeclaration(alias) ? typeText(alias.type) : name;
    });
}

function typeText(type: ts.TypeNode | undefined): string {
  return withoutHidden(type?.getText() ?? 'void')
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\breadonly /g, '')
    .replace(/\s+/g, ' ')
    .replaceAll('"', "'")
    .replace(/(\?: [^;}]*?) \| undefined(?= \}|;)/g, '$1')
    .replace(/^\| /, '')
    .replace(/;? \}/g, ' }');
}

const basesOf = (declaration: ts.InterfaceDeclaration) =>
  declaration.heritageClauses?.flatMap((clause) => [...clause.types]) ?? [];

/** What an interface takes over from others. */
function sentencesOfBases(declaration: ts.InterfaceDeclaration): string[] {
  const isLast = declaration.members.length === 0;
  return basesOf(declaration).flatMap((base) => {
    const sentence = takenOver(base.expression.getText(), base.typeArguments ?? []);
    return sentence === '' ? [] : [`${sentence}${isLast ? '.' : ', and:'}`];
  });
}

function takenOver(how: string, given: readonly ts.TypeNode[]): string {
  const [from, keys] = given;
  if (from === undefined || keys === undefined) return `Has all of \`${how}\``;
  if (!EXPORTED_NAMES.includes(from.getText())) return '';
  const names = [...keysOf(keys)].map((key) => `\`${key}\``).join(', ');
  return how === 'Omit'
    ? `Has all of \`${from.getText()}\` but ${names}`
    : `Has these of \`${from.getText()}\`: ${names}`;
}

/** What programs cannot name is written out. */
function membersOfBases(declaration: ts.InterfaceDeclaration): ts.TypeElement[] {
  return basesOf(declaration).flatMap(({ typeArguments }) => {
    const [from, keys] = typeArguments ?? [];
    if (from === undefined || keys === undefined || EXPORTED_NAMES.includes(from.getText())) return [];
    const names = keysOf(keys);
    return shapeOf(from)?.members.filter((one) => names.has(one.name?.getText() ?? '')) ?? [];
  });
}

const keysOf = (keys: ts.TypeNode) => new Set([...keys.getText().matchAll(/'(\w+)'/g)].map(([, key]) => key));

/** The members of a type that is given as the value of a shape. */
function shapeOf(type: ts.TypeNode): ts.TypeLiteralNode | undefined {
  const alias = declared.get(type.getText());
  const inner = alias !== undefined && ts.isTypeAliasDeclaration(alias) ? alias.type : type;
  const [, name = ''] = /^ValueOf<typeof ([\w$]+)>$/.exec(inner.getText()) ?? [];
  const shape = declared.get(name);
  if (shape === undefined || !ts.isVariableDeclaration(shape)) return undefined;
  const found = shape.type && ts.isTypeReferenceNode(shape.type) ? shape.type.typeArguments?.[0] : undefined;
  return found !== undefined && ts.isTypeLiteralNode(found) ? found : undefined;
}

/** A line for a member, and one for each of its own members. */
function memberLines(member: ts.TypeElement | ts.ClassElement): string[] {
  if (ts.isConstructorDeclaration(member) || member.name === undefined || ts.isPrivateIdentifier(member.name))
    return [];
  const text = commentOf(member).replaceAll('\n', ' ');
  const behind = (line: string) => (text === '' ? line : `${line}: ${text}`);
  const name = member.name.getText();
  if (ts.isMethodSignature(member) || ts.isMethodDeclaration(member)) {
    const thrown = tagsOf(member);
    const own = name === '[Symbol.asyncIterator]' ? 'for await (… of loader)' : name;
    const call = name.startsWith('[') ? own : `${own}${signatureOf(member as ts.MethodDeclaration)}`;
    return [
      behind(`\`${call.replace('[Symbol.iterator]', 'for (… of batch)')}\``),
      ...thrown.map((line) => `  - ${line}`),
    ];
  }
  const type = ts.isPropertySignature(member) || ts.isPropertyDeclaration(member) ? member.type : undefined;
  const read = ts.isGetAccessorDeclaration(member) ? member.type : type;
  if (read === undefined) return [];
  const { inner, around } = innerLiteral(read);
  if (inner === undefined) {
    const text = mark(member) === '?' ? typeText(read).replace(/ \| undefined$/, '') : typeText(read);
    return [behind(`\`${name}${mark(member)}: ${text.replace(/^\((\(.*\) => \w+)\)$/, '$1')}\``)];
  }
  const lines = inner.members
    .flatMap((one) => memberLines(one))
    .map((line) => `  ${line.startsWith('  ') ? line : `- ${line}`}`);
  return [behind(`\`${name}${mark(member)}\`${mark(member) === '?' ? '' : around}`), ...lines];
}

/** The object in a type, when its members have lines of their own. */
function innerLiteral(type: ts.TypeNode): { inner: ts.TypeLiteralNode | undefined; around: string } {
  if (ts.isTypeLiteralNode(type)) return { inner: type, around: '' };
  if (ts.isUnionTypeNode(type)) {
    const [first, second, ...more] = type.types;
    if (first && ts.isTypeLiteralNode(first) && second?.getText() === 'undefined' && more.length === 0)
      return { inner: first, around: ', or undefined' };
  }
  if (ts.isTypeOperatorNode(type) && ts.isArrayTypeNode(type.type) && ts.isTypeLiteralNode(type.type.elementType))
    return { inner: type.type.elementType, around: ', of each' };
  return { inner: undefined, around: '' };
}

/** A union is a list of what it can be, where comments say what each is. */
function typeParts(type: ts.TypeNode): string[] {
  const shape = shapeOf(type);
  if (shape !== undefined) return [list(shape.members.flatMap((one) => memberLines(one)))];
  const choices = choicesOf(type);
  if (choices.some(({ text }) => text !== ''))
    return [list(choices.map(({ choice, text }) => (text === '' ? `\`${choice}\`` : `\`${choice}\`: ${text}`)))];
  if (ts.isTypeReferenceNode(type) && type.typeName.getText() === 'Pick')
    return [`${takenOver('Pick', type.typeArguments ?? [])}.`];
  return [code(typeText(type))];
}

function choicesOf(type: ts.TypeNode): { choice: string; text: string }[] {
  if (!ts.isUnionTypeNode(type)) return [];
  return type.types.flatMap((one) => {
    const alias = declared.get(one.getText());
    const isHidden = alias !== undefined && !EXPORTED_NAMES.includes(one.getText());
    if (isHidden && ts.isTypeAliasDeclaration(alias)) return choicesOf(alias.type);
    return [{ choice: typeText(one).replace(/^'(.*)'$/, '$1'), text: commentBefore(one) }];
  });
}

/** The comment before a choice of a union; the bar may stand between the two. */
function commentBefore(node: ts.Node): string {
  const before = types.slice(node.parent.getFullStart(), node.getStart());
  const [, comment = ''] = /\/\*\*((?:(?!\*\/).)*)\*\/\s*\|?\s*$/s.exec(before) ?? [];
  return tidy(comment.replace(/^\s*\* ?/gm, '').trim());
}
