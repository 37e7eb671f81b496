/** The page can be read aloud: each chart has a description, and a table or a sentence says what it shows. */

import { FEWEST_RECORDS, sum } from '../job/report/self-check.js';
import type { ExpectedRange, Moment, WatchedDevice } from '../options/report-facts.js';
import type { GroupReport, JobReport, PassSeconds, SplitReport } from '../options/reports.js';
import { formatBytes, formatCount, formatDecimal, formatPlural, formatSeconds } from '../values/format-numbers.js';
import { escapedXml, scatterChart, throughputChart, timelineChart } from './charts.js';
import { budgetText, nameText, numberText, percentText, secondsFormat, speedText } from './format-text.js';
import { reasonForNoSample, summaryAnswers } from './report-summary.js';

const STYLE = `
:root { color-scheme: light dark; --page: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --quiet: #e4e8ec; --first: #0b63b5; --second: #b3470b; --good: #116329; --bad: #a40e26; }
@media (prefers-color-scheme: dark) { :root { --page: #12161b; --ink: #e6e9ec; --soft: #a3adb8; --line: #3a434d; --quiet: #303842; --first: #6cb4ff; --second: #ffa163; --good: #6fdd8b; --bad: #ff9492; } }
@media print { :root { color-scheme: light; --page: #fff; --ink: #000; --soft: #444; --line: #aaa; --quiet: #ddd; --first: #0b63b5; --second: #b3470b; --good: #116329; --bad: #a40e26; } body { font-size: 10pt; } h2 { margin-top: 1.5rem; } figure, tr, pre, .short { break-inside: avoid; } h2, h2 + p, caption, thead, tr.stated { break-after: avoid; } tbody tr > * { padding-top: .1rem; padding-bottom: .1rem; } tbody tr:nth-child(-n+4), tbody tr:nth-last-child(-n+3) { break-before: avoid; } p { orphans: 3; widows: 3; } main { max-width: none; padding: 0; } .wide { overflow: visible; } .key { print-color-adjust: exact; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 1rem 0 0; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); }
p, .short { max-width: 46rem; } .soft, figcaption { color: var(--soft); }
.short { margin: 1rem 0; } .short dt { font-weight: 600; } .short dd { margin: 0 0 .5rem; }
table { border-collapse: collapse; margin: .75rem 0; font-variant-numeric: tabular-nums; } caption { text-align: left; color: var(--soft); }
tbody th { font-weight: 400; } th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; } td { overflow-wrap: break-word; } td.n, th.n { text-align: right; } td.n { white-space: nowrap; }
.wide { overflow-x: auto; } .wide:focus-visible { outline: 3px solid var(--first); outline-offset: 2px; } figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; display: block; }
tr.stated > * { border-bottom: 0; padding-bottom: 0; } tr.about td { color: var(--soft); font-size: .9rem; padding-bottom: .5rem; }
@media screen and (max-width: 40rem) { .wide { background: linear-gradient(to right, var(--page) 50%, transparent) left / 1.5rem 100% no-repeat local, linear-gradient(to left, var(--page) 50%, transparent) right / 1.5rem 100% no-repeat local, linear-gradient(to right, var(--line), transparent) left / .7rem 100% no-repeat, linear-gradient(to left, var(--line), transparent) right / .7rem 100% no-repeat; } figure svg { min-width: 34rem; } figure svg.square { min-width: 0; } table { font-size: .85rem; } th, td { padding-right: .6rem; } .wide td:last-child:not(.n) { min-width: 9rem; } }
pre span { display: inline-block; max-width: 100%; white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: var(--quiet); padding: .75rem; border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 700; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .3em 0 .8em; } .first { background: var(--first); } .second { background: var(--second); }
.key.dashed { background: repeating-linear-gradient(to right, var(--second) 0 .3em, transparent .3em .5em); }
`;

export function pageText(data: JobReport): string {
  const report = withNamedDevices(data);
  const { result, endedAt, environment } = report;
  const sections = [numbers, checks, places, partsAndMix, time, repeat].map((section) => section(report));
  return `<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head><meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" />
<title>pileshuf: ${formatPlural(result.records, 'record')}, seed ${escapedXml(result.seed)}</title>
<style>${STYLE}</style></head>
<body><main>
<h1>Report of a shuffle</h1>
<p class="soft">pileshuf ${escapedXml(environment.pileshuf)}, ${escapedXml(endedAt.slice(0, 19).replace('T', ' '))} UTC</p>
${short(report)}
${sections.filter((each) => each !== '').join('\n')}
</main></body>
</html>
`;
}

/** A server of a network file system may have any name. */
function withNamedDevices(report: JobReport): JobReport {
  const { watch } = report;
  const devices = watch?.devices.map((device) => ({ ...device, name: nameText(device.name) })) ?? [];
  return { ...report, watch: watch && { ...watch, devices } };
}

function section(title: string, ...content: readonly string[]): string {
  const id = title.toLowerCase().replace(/[^a-z]+/g, '-');
  return `<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>\n${content.join('\n')}</section>`;
}

function short(report: JobReport): string {
  const items = summaryAnswers(report).map(({ question, answer, isGood }) => {
    const at = isGood === undefined ? 0 : answer.search(/[:.]/);
    const strong =
      at === 0 ? '' : `<strong class="${isGood ? 'good' : 'bad'}">${escapedXml(answer.slice(0, at))}</strong>`;
    return `<dt>${escapedXml(question)}</dt><dd>${strong}${escapedXml(answer.slice(at))}</dd>`;
  });
  return `<dl class="short">${items.join('\n')}</dl>`;
}

const paragraph = (text: string) => `<p>${escapedXml(text)}</p>`;
/** Wraps content that may be wider than the page, so that it can be scrolled with the keys, too. */
const wide = (label: string, content: string) =>
  `<div class="wide" tabindex="0" role="group" aria-label="${escapedXml(label)}">${content}</div>`;
/** @param key what it shows, and what its colours mean. */
const figure = (chart: string, caption: string, key = '') => {
  const label = caption.slice(0, caption.search(/[:.]/) + 1);
  const scrolled = chart.includes('class="square"') ? chart : wide(`Chart. ${label}`, chart);
  return `<figure>${key}${scrolled}<figcaption>${escapedXml(caption)}</figcaption></figure>`;
};
const colours = (of: string, first: string, second: string, name = 'second') =>
  `<p><b>${escapedXml(of)}</b>:<span class="key first"></span>${first}<span class="key ${name}"></span>${second}</p>`;

/** More columns may be wider than a small screen. */
const MOST_NARROW = 3;

/** The first cell of a row is its head. A column of numbers begins with `#`. @param about a sentence below each row. */
function table(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  about?: readonly string[],
): string {
  const classOf = (i: number) => (heads[i]?.startsWith('#') === true ? ' class="n"' : '');
  const head = heads
    .map((text, i) => `<th scope="col"${classOf(i)}>${escapedXml(text.replace('#', ''))}</th>`)
    .join('');
  const body = rows.map((cells, row) => {
    const line = cells
      .map((text, i) =>
        i === 0 ? `<th scope="row">${escapedXml(text)}</th>` : `<td${classOf(i)}>${escapedXml(text)}</td>`,
      )
      .join('');
    if (about === undefined) return `<tr>${line}</tr>`;
    const below = `<td colspan="${heads.length}">${escapedXml(about[row] ?? '')}</td>`;
    return `<tr class="stated">${line}</tr><tr class="about">${below}</tr>`;
  });
  const text = `<table><caption>${escapedXml(caption)}</caption><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table>`;
  return heads.length > MOST_NARROW && about === undefined ? wide(`Table. ${caption}`, text) : text;
}

function numbers({ result, profile, call, inputs }: JobReport): string {
  const { bytes, leftOut, duplicates, resumed, tempBytes } = result;
  const inputBytes = sum(inputs.map((input) => input.bytes ?? 0));
  const { prepare, pass1, between, pass2, commit, release } = profile.seconds;
  // What an earlier attempt did took no time of this one.
  const isWhole = resumed === undefined;
  const passText = (of: number, seconds: number) =>
    `${formatSeconds(seconds)}${isWhole && of > 0 ? `, ${speedText(of, seconds)}` : ''}`;
  const amount = (of: { records: number; bytes: number }) =>
    `${formatPlural(of.records, 'record')}, ${formatBytes(of.bytes)}`;
  const temp = tempBytes === 0 ? ': the piles stayed in memory' : ` in ${call.tempDirs.map(nameText).join(', ')}`;
  const decoders = Object.entries(result.decoders).map(([name, count]) => `${name}: ${formatCount(count)}`);
  const first = formatCount(call.headCount ?? 0);
  const rows: readonly (readonly [what: string, text: string | undefined])[] = [
    ['Records', amount(result)],
    [isWhole ? 'Time' : 'Time of this attempt', passText(bytes, result.seconds.total)],
    ['Inputs', `${formatCount(result.inputCount)}${inputBytes > 0 ? `, ${formatBytes(inputBytes)} decoded` : ''}`],
    ['Output', call.output === '-' ? 'standard output' : nameText(call.output)],
    ['Output files', formatCount(Math.max(1, result.shards.length))],
    ['Seed', `${result.seed}${call.isSeedDrawn ? ' (drawn)' : ''}`],
    [`Sum of ${result.sum?.of}`, result.sum && formatDecimal(result.sum.total)],
    ['Checksum', result.checksum],
    ['Workers', formatCount(result.workers)],
    ['Piles', formatCount(result.piles)],
    ['Memory budget', budgetText(call.memoryBytes)],
    ['Peak memory', formatBytes(result.peakMemoryBytes)],
    ['Temp data', `${formatBytes(tempBytes)}${temp}`],
    ['Before the passes', formatSeconds(prepare)],
    ['Pass 1', passText(inputBytes, pass1)],
    ['Between the passes', formatSeconds(between)],
    ['Pass 2', passText(bytes, pass2)],
    ['Commit', formatSeconds(commit)],
    ['Removal of temp data', formatSeconds(release)],
    ['Left out', leftOut && `${amount(leftOut)}: not among the first ${first}`],
    ['Duplicates dropped', duplicates && amount(duplicates)],
    [
      'Done by an earlier attempt',
      resumed && `${formatPlural(resumed.pileSets, 'slice')} read, ${formatBytes(resumed.outputBytes)} written`,
    ],
    ['Decoders', decoders.join(', ') || undefined],
  ];
  const known = rows.flatMap(([what, text]) => (text === undefined ? [] : [[what, text]]));
  return section('The job in numbers', table('The job', ['What', 'Value'], known));
}

function checks({ checks: all, ...report }: JobReport): string {
  const tooFew = reasonForNoSample(report);
  if (all.length === 0) return section('Is it shuffled?', paragraph(`Not checked: ${tooFew ?? 'nothing can be'}.`));
  const hasPlaces = tooFew !== undefined || all.some(({ name }) => name === 'Places');
  const { piles, sample } = report;
  const sentences = [
    all.some(({ isAsExpected }) => !isAsExpected) &&
      'Shuffle again with another seed. If the same check is unusual again, something is wrong: please report it.',
    tooFew !== undefined && `The places of records are not checked: ${tooFew}.`,
    !hasPlaces && 'Places, serial correlation and even spread are not checked: they follow from values.',
    piles?.notExpected !== undefined && `Sizes of piles are not checked: ${piles.notExpected}.`,
    tooFew === undefined &&
      `The checks look at ${formatPlural(sample.length, 'record')}, chosen uniformly: where each was read, and where it was found when the output was written.`,
    'Checks find a broken shuffle. They cannot prove a good one: that follows from the keys of the records (docs/ORDER.md).',
  ];
  return section(
    'Is it shuffled?',
    table(
      'Self-check. In a correct shuffle a check is unusual in about 1 of 1000 jobs.',
      ['Check', '#Found', '#Expected', 'Result'],
      all.map(({ name, value, expected: { lowest, highest }, isAsExpected }) => [
        name,
        numberText(value),
        `${numberText(lowest)} to ${numberText(highest)}`,
        isAsExpected ? 'expected' : 'unusual',
      ]),
      all.map(({ question }) => question),
    ),
    ...sentences.flatMap((text) => (text === false ? [] : [paragraph(text)])),
  );
}

function places({ sample, sampleMissing, result }: JobReport): string {
  const title = 'From where to where';
  if (sample.length === 0)
    return section(title, paragraph(`There is no sample: ${sampleMissing ?? 'none of its records is in the output'}.`));
  const dots = sample.length === 1 ? 'The dot is the only sampled record' : 'Each dot is a sampled record';
  const meaning =
    sample.length < FEWEST_RECORDS
      ? 'So few dots show no pattern.'
      : 'Shuffled records fill the square evenly. An order that is kept shows as a line, a buffer shuffle as a band.';
  const caption = `${dots}: to the right by its place in the inputs, one after the other, and up by its place in the output. ${meaning}`;
  return section(title, figure(scatterChart(sample, result.records), caption));
}

type Column<Row> = readonly [head: string, textOf: (row: Row, i: number) => string];

function tableOf<Row>(caption: string, rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.map((row, i) => columns.map(([, textOf]) => textOf(row, i)));
  return table(
    caption,
    columns.map(([head]) => head),
    cells,
  );
}

function partsAndMix({ result, askedSplits = [], askedShares }: JobReport): string {
  const { splits, sections, groups, sum } = result;
  const nameOf = ({ name }: SplitReport) => name;
  const records: Column<SplitReport> = ['#Records', (part) => formatCount(part.records)];
  const others: readonly Column<SplitReport>[] = [
    ['#Bytes', ({ bytes }) => formatBytes(bytes)],
    ...columnIf<SplitReport>(sum && `#${sum.of}`, (part) => formatDecimal(part.sum ?? '0')),
    ['#Shards', ({ shards }) => formatCount(shards.length)],
    ['Checksum', ({ checksum }) => checksum],
  ];
  const parts = [
    sections && tableOf('Records of each value', sections, [['Directory', nameOf], records, ...others]),
    splits &&
      tableOf('Splits, as asked and as they came out', splits, [
        ['Split', nameOf],
        ['Asked', (_, i) => askedSplits[i]?.asked ?? ''],
        records,
        ['#Expected', (_, i) => spreadText(askedSplits[i]?.expected)],
        ...others,
      ]),
    groups && mixTable(groups, askedShares, sum?.of),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : section(sections === undefined ? 'Splits and mix' : 'Values and mix', ...parts);
}

/** @param head undefined: there is no such column. */
function columnIf<Row>(head: string | undefined, textOf: Column<Row>[1]): readonly Column<Row>[] {
  return head === undefined ? [] : [[head, textOf]];
}

/** The shares are those of the output, in the unit of the mix. */
function mixTable(groups: readonly GroupReport[], shares: JobReport['askedShares'], field: string | undefined): string {
  const amounts = groups.map(({ weighed, unit }) =>
    shares?.unit === 'records' || shares?.unit === 'bytes' ? weighed[shares.unit] : unit?.weighed,
  );
  const all = Math.max(1, sum(amounts.map((amount = 0) => amount)));
  const partOf = new Map(shares?.groups.map(({ name, part }) => [name, part]));
  const nameOf = ({ name = groups.length === 1 ? 'all inputs' : 'other inputs' }: GroupReport) => name;
  const caption = 'Groups of inputs: how often each record comes, and how many records that made';
  return tableOf(shares === undefined ? caption : `${caption}; shares of the output in ${shares.unit}`, groups, [
    ['Group', nameOf],
    ['#Factor', ({ factor }) => numberText(factor)],
    ['#Inputs', ({ inputCount }) => formatCount(inputCount)],
    ['#Records read', ({ read }) => formatCount(read.records)],
    ['#Expected', ({ expected }) => formatCount(expected.records)],
    ['#Came out', ({ weighed }) => formatCount(weighed.records)],
    ['#Bytes', ({ weighed }) => formatBytes(weighed.bytes)],
    ['#Epochs', ({ epochs }) => numberText(epochs)],
    ...columnIf<GroupReport>(field && `#${field} read`, (group) => formatDecimal(group.sum?.read ?? '')),
    ...columnIf<GroupReport>(field && `#${field}`, (group) => formatDecimal(group.sum?.weighed ?? '')),
    ...columnIf<GroupReport>(shares && '#Share asked', (group) => percentText(partOf.get(nameOf(group)) ?? 0)),
    ...columnIf<GroupReport>(shares && '#Share', (_, i) =>
      amounts[i] === undefined ? '' : percentText(amounts[i] / all),
    ),
  ]);
}

function time({ profile, watch }: JobReport): string {
  const passes = [profile.pass1, profile.pass2].map((pass) => new Map<string, number>(Object.entries(pass)));
  const totals = passes.map((pass) => Math.max(1e-9, sum([...pass.values()])));
  const phases = (Object.keys(MEANINGS) as (keyof PassSeconds)[]).filter(
    (phase) => sum(passes.map((pass) => pass.get(phase) ?? 0)) > 0.0005,
  );
  const inSeconds = secondsFormat(phases.flatMap((phase) => passes.map((pass) => pass.get(phase) ?? 0)));
  const spent = (phase: string) =>
    passes.flatMap((pass, i) => {
      const seconds = pass.get(phase) ?? 0;
      return seconds > 0 ? [inSeconds(seconds), percentText(seconds / (totals[i] ?? 1))] : ['', ''];
    });
  const tasks = profile.tasks.length === 1 ? 'its only task' : `each of ${formatCount(profile.tasks.length)} tasks`;
  return section(
    'Where the time went',
    figure(
      timelineChart(profile),
      `Above, the steps of the job. Below, what each worker did: one bar for ${tasks}.`,
      colours('Workers', 'pass 1, reading', 'pass 2, writing'),
    ),
    table(
      'Time of all workers together, by phase',
      ['Phase', '#Pass 1', '#Part of it', '#Pass 2', '#Part of it', 'What it is'],
      phases.map((phase) => [phase, ...spent(phase), MEANINGS[phase]]),
    ),
    ...(watch === undefined || watch.moments.length <= 2
      ? ['<p class="soft">The job was too short for charts of its throughput.</p>']
      : throughput(watch, profile)),
  );
}

const MEANINGS: Readonly<Record<keyof PassSeconds, string>> = {
  read: 'reading inputs',
  decompress: 'decompressing inputs and piles',
  decode: 'finding the values in pages of Parquet',
  transpose: 'joining columns into rows, and splitting rows',
  scan: 'finding where records end',
  scatter: 'drawing keys, and copying records to piles',
  hash: 'checksums',
  write: 'writing piles and output, to disk or memory',
  load: 'reading piles',
  sort: 'sorting the keys of a pile',
  gather: 'copying records in the new order',
  encode: 'making pages of Parquet',
  compress: 'compressing',
  sync: 'making a disk write what is in memory',
  gate: 'waiting for a turn at a device',
  turn: 'waiting for the part of the output that comes first',
  other: 'everything else',
  idle: 'waiting for a task',
};

function throughput({ devices, moments }: NonNullable<JobReport['watch']>, profile: JobReport['profile']): string[] {
  return [
    figure(
      throughputChart(moments, profile),
      'Of the whole job: bytes read from the inputs as stored, and bytes of records written. Compressed inputs count as they are on disk.',
      colours('The job', 'read', 'written', 'dashed'),
    ),
    ...(devices.length === 0 ? [] : [deviceTable(devices, moments)]),
  ];
}

function deviceTable(devices: readonly WatchedDevice[], moments: readonly Moment[]): string {
  const last = moments.at(-1);
  const callsOf = (i: number) => moments.map(({ traffic }) => traffic[i]?.calls ?? 0);
  const trafficOf = (i: number) => last?.traffic[i] ?? { readBytes: 0, writtenBytes: 0 };
  const bytesOf = (i: number) => trafficOf(i).readBytes + trafficOf(i).writtenBytes;
  const caption = `Devices, looked at ${formatPlural(moments.length, 'time')}. Inputs, temp data and output that lie on them count.`;
  return tableOf(caption, devices, [
    ['Device', ({ name }) => name],
    ['Kind', ({ kind }) => kind],
    ['#Read', (_, i) => formatBytes(trafficOf(i).readBytes)],
    ['#Written', (_, i) => formatBytes(trafficOf(i).writtenBytes)],
    ['#Read and written', (_, i) => speedText(bytesOf(i), last?.seconds ?? 0)],
    ['#Mean calls', (_, i) => numberText(sum(callsOf(i)) / moments.length)],
    ['#Gate', ({ mostCalls }) => formatCount(mostCalls)],
    [
      '#At its gate',
      ({ mostCalls }, i) => percentText(callsOf(i).filter((calls) => calls >= mostCalls).length / moments.length),
    ],
  ]);
}

function spreadText(expected: ExpectedRange | undefined): string {
  if (expected === undefined) return 'by values';
  const { mean, standardDeviation } = expected;
  return standardDeviation === 0 ? formatCount(mean) : `${formatCount(mean)} ± ${numberText(standardDeviation)}`;
}

function repeat({ call, environment, result }: JobReport): string {
  const { node, platform, cpu, cpuCount, memoryBytes } = environment;
  const place = call.directory === undefined ? '' : paragraph(`In the directory ${nameText(call.directory)}:`);
  const words = call.command?.split(' ').map((word) => `<span>${escapedXml(word)}</span>`);
  return section(
    'To repeat the job',
    words === undefined
      ? paragraph(`A program called the library, with the seed ${result.seed}.`)
      : `${place}<pre><code>${words.join(' ')}</code></pre>`,
    paragraph(
      'The same seed and inputs give the same records in the same order, on any machine, with any number of workers and any amount of memory. The bytes of compressed files may differ, but not what they decode to. An existing output or report is replaced only with --force.',
    ),
    paragraph(
      `It ran on ${platform} with Node.js ${node}, ${formatBytes(memoryBytes)} of memory, and ${cpuCount} processors of the kind ${cpu}.`,
    ),
  );
}
