/** The page can be read aloud: each chart has a description, and a table or a sentence says what it shows. */

import type { GroupReport, JobReport } from '../jobs/options.js';
import type { Moment, WatchedDevice } from '../jobs/report/report-facts.js';
import { FEWEST_RECORDS, sum } from '../jobs/report/self-check.js';
import { formatBytes, formatCount, formatPlural } from '../quantity.js';
import {
  callsChart,
  heatChart,
  MOST_PILES,
  pilesChart,
  scatterChart,
  secondsOf,
  throughputChart,
  timelineChart,
} from './charts.js';
import { heatGroups, surprise } from './heat-groups.js';
import { inShort, whyTooFew } from './in-short.js';
import { escaped } from './svg.js';
import {
  budgetText,
  expectedText,
  likeSeconds,
  nameText,
  numberText,
  percentText,
  secondsText,
  speedText,
  spreadText,
} from './units.js';

const STYLE = `
:root { color-scheme: light dark; --page: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --quiet: #e4e8ec; --first: #0b63b5; --second: #b3470b; --good: #116329; --bad: #a40e26; }
@media (prefers-color-scheme: dark) { :root { --page: #12161b; --ink: #e6e9ec; --soft: #a3adb8; --line: #3a434d; --quiet: #303842; --first: #6cb4ff; --second: #ffa163; --good: #6fdd8b; --bad: #ff9492; } }
@media print { :root { color-scheme: light; --page: #fff; --ink: #000; --soft: #444; --line: #aaa; --quiet: #ddd; --first: #0b63b5; --second: #b3470b; --good: #116329; --bad: #a40e26; } body { font-size: 10pt; } h2 { margin-top: 1.5rem; } figure, tr, pre, .numbers, .short { break-inside: avoid; } h2, h2 + p, caption, thead, tr.stated { break-after: avoid; } tbody tr > * { padding-top: .1rem; padding-bottom: .1rem; } tbody tr:nth-child(-n+4), tbody tr:nth-last-child(-n+3) { break-before: avoid; } p { orphans: 3; widows: 3; } main { max-width: none; padding: 0; } .wide { overflow: visible; } .key, .ramp { print-color-adjust: exact; } details { display: none; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 1rem 0 0; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); }
p, .short { max-width: 46rem; } .soft, figcaption { color: var(--soft); }
.short { margin: 1rem 0; } .short dt { font-weight: 600; } .short dd { margin: 0 0 .5rem; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1rem 0; padding: 0; list-style: none; }
.numbers li { border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; } .numbers b { display: block; font-size: 1.35rem; font-weight: 600; }
table { border-collapse: collapse; margin: .75rem 0; font-variant-numeric: tabular-nums; } caption { text-align: left; color: var(--soft); }
tbody th { font-weight: 400; } th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; } td { overflow-wrap: break-word; } td.n, th.n { text-align: right; } td.n { white-space: nowrap; }
.wide { overflow-x: auto; } .wide:focus-visible, summary:focus-visible { outline: 3px solid var(--first); outline-offset: 2px; } figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; display: block; }
tr.stated > * { border-bottom: 0; padding-bottom: 0; } tr.about td { color: var(--soft); font-size: .9rem; padding-bottom: .5rem; }
@media screen and (max-width: 40rem) { .wide { background: linear-gradient(to right, var(--page) 50%, transparent) left / 1.5rem 100% no-repeat local, linear-gradient(to left, var(--page) 50%, transparent) right / 1.5rem 100% no-repeat local, linear-gradient(to right, var(--line), transparent) left / .7rem 100% no-repeat, linear-gradient(to left, var(--line), transparent) right / .7rem 100% no-repeat; } figure svg { min-width: 34rem; } figure svg.square { min-width: 0; } table { font-size: .85rem; } th, td { padding-right: .6rem; } .wide td:last-child:not(.n) { min-width: 9rem; } }
pre span { display: inline-block; max-width: 100%; white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: var(--quiet); padding: .75rem; border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 700; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .3em 0 .8em; } .first { background: var(--first); } .second { background: var(--second); }
.key.dashed { background: repeating-linear-gradient(to right, var(--second) 0 .3em, transparent .3em .5em); }
.ramp { display: inline-block; width: 9em; height: .8em; margin: 0 .5em; border: 1px solid var(--line); background: linear-gradient(to right, var(--second), transparent, var(--first)); }
summary { cursor: pointer; color: var(--soft); }
`;

export function pageText(data: JobReport): string {
  const report = withNamedDevices(data);
  const { result, endedAt } = report;
  const sections = [
    numbers(report),
    checks(report),
    scatter(report),
    heatMap(report),
    splitsAndMix(report),
    time(report),
    sizes(report),
    repeat(report),
  ];
  return `<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head><meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" />
<title>pileshuf: ${formatPlural(result.records, 'record')}, seed ${escaped(result.seed)}</title>
<style>${STYLE}</style></head>
<body><main>
<h1>Report of a shuffle</h1>
<p class="soft">pileshuf ${escaped(report.environment.pileshuf)}, ${escaped(endedAt.slice(0, 19).replace('T', ' '))} UTC</p>
${short(report)}
${sections.filter((each) => each !== '').join('\n')}
</main></body>
</html>
`;
}

/** A server of a network file system may have any name. */
function withNamedDevices(report: JobReport): JobReport {
  const { watch } = report;
  if (watch === undefined) return report;
  const devices = watch.devices.map((device) => ({ ...device, name: nameText(device.name) }));
  return { ...report, watch: { ...watch, devices } };
}

function section(title: string, ...content: readonly string[]): string {
  const id = title.toLowerCase().replace(/[^a-z]+/g, '-');
  return `<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>\n${content.join('\n')}</section>`;
}

function short(report: JobReport): string {
  const items = inShort(report).map(({ question, answer, isGood }) => {
    const at = answer.search(/[:.]/);
    const [first, rest] = isGood === undefined ? ['', answer] : [answer.slice(0, at), answer.slice(at)];
    const strong = first === '' ? '' : `<strong class="${isGood === true ? 'good' : 'bad'}">${escaped(first)}</strong>`;
    return `<dt>${escaped(question)}</dt><dd>${strong}${escaped(rest)}</dd>`;
  });
  return `<dl class="short">${items.join('\n')}</dl>`;
}

const paragraph = (text: string) => `<p>${escaped(text)}</p>`;
/** What may be wider than the page can be scrolled with the keys, too. */
const wide = (label: string, content: string) =>
  `<div class="wide" tabindex="0" role="group" aria-label="${escaped(label)}">${content}</div>`;
/** @param key what it shows, and what its colours mean. */
const figure = (chart: string, caption: string, key = '') => {
  const label = caption.slice(0, caption.search(/[:.]/) + 1);
  const scrolled = chart.includes('class="square"') ? chart : wide(`Chart. ${label}`, chart);
  return `<figure>${key}${scrolled}<figcaption>${escaped(caption)}</figcaption></figure>`;
};

type AskedShares = NonNullable<JobReport['askedShares']>;

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
  const head = heads.map((text, i) => `<th scope="col"${classOf(i)}>${escaped(text.replace('#', ''))}</th>`).join('');
  const body = rows.map((cells, row) => {
    const line = cells
      .map((text, i) => (i === 0 ? `<th scope="row">${escaped(text)}</th>` : `<td${classOf(i)}>${escaped(text)}</td>`))
      .join('');
    if (about === undefined) return `<tr>${line}</tr>`;
    const below = `<td colspan="${heads.length}">${escaped(about[row] ?? '')}</td>`;
    return `<tr class="stated">${line}</tr><tr class="about">${below}</tr>`;
  });
  const text = `<table><caption>${escaped(caption)}</caption><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table>`;
  return heads.length > MOST_NARROW && about === undefined ? wide(`Table. ${caption}`, text) : text;
}

function numbers({ result, profile, call, inputs }: JobReport): string {
  const inputBytes = inputs.reduce((all, { bytes = 0 }) => all + bytes, 0);
  const { seconds } = profile;
  // What an earlier attempt did took no time of this one.
  const isWhole = result.resumed === undefined;
  const passText = (bytes: number, time: number) =>
    `${secondsText(time)}${isWhole && bytes > 0 ? `, ${speedText(bytes, time)}` : ''}`;
  const big: readonly (readonly [string, string])[] = [
    ['records', formatCount(result.records)],
    ['of records', formatBytes(result.bytes)],
    [isWhole ? 'in all' : 'in this attempt', secondsText(result.seconds.total)],
    ...(isWhole ? [['of output', speedText(result.bytes, result.seconds.total)] as const] : []),
  ];
  const rows: string[][] = [
    ['Inputs', `${formatCount(result.inputCount)}${inputBytes > 0 ? `, ${formatBytes(inputBytes)} decoded` : ''}`],
    ['Output', call.output === '-' ? 'standard output' : nameText(call.output)],
    ['Output files', formatCount(Math.max(1, result.shards.length))],
    ['Seed', `${result.seed}${call.isSeedDrawn ? ' (drawn)' : ''}`],
    ['Checksum', result.checksum],
    ['Workers', formatCount(result.workers)],
    ['Piles', formatCount(result.piles)],
    ['Memory budget', budgetText(call.memoryBytes)],
    [
      'Temp data',
      `${formatBytes(result.tempBytes)}${result.tempBytes === 0 ? ': the piles stayed in memory' : ` in ${call.tempDirs.map(nameText).join(', ')}`}`,
    ],
    ['Before the passes', secondsText(seconds.prepare)],
    ['Pass 1', passText(inputBytes, seconds.pass1)],
    ['Between the passes', secondsText(seconds.between)],
    ['Pass 2', passText(result.bytes, seconds.pass2)],
    ['Commit', secondsText(seconds.commit)],
    ['Removal of temp data', secondsText(seconds.release)],
  ];
  const { leftOut, duplicates, resumed } = result;
  const amount = (sum: { records: number; bytes: number }) =>
    `${formatPlural(sum.records, 'record')}, ${formatBytes(sum.bytes)}`;
  if (leftOut !== undefined)
    rows.push(['Left out', `${amount(leftOut)}: not among the first ${formatCount(call.headCount ?? 0)}`]);
  if (duplicates !== undefined) rows.push(['Duplicates dropped', amount(duplicates)]);
  if (resumed !== undefined)
    rows.push([
      'Done by an earlier attempt',
      `${formatPlural(resumed.pileSets, 'slice')} read, ${formatBytes(resumed.outputBytes)} written`,
    ]);
  const decoders = Object.entries(result.decoders).map(([name, count]) => `${name}: ${formatCount(count)}`);
  if (decoders.length > 0) rows.push(['Decoders', decoders.join(', ')]);
  const items = big.map(([what, text]) => `<li><b>${escaped(text)}</b> ${escaped(what)}</li>`);
  return section(
    'The job in numbers',
    `<ul class="numbers">${items.join('')}</ul>`,
    table('The job', ['What', 'Value'], rows),
  );
}

function checks({ checks: all, ...report }: JobReport): string {
  const tooFew = whyTooFew(report);
  if (all.length === 0) return section('Is it shuffled?', paragraph(`Not checked: ${tooFew ?? 'nothing can be'}.`));
  const odd = all.filter(({ isAsExpected }) => !isAsExpected);
  const verdict =
    odd.length === 0
      ? `<p><strong class="good">Yes, as far as ${all.length === 1 ? 'one check' : `${all.length} checks`} can tell.</strong> ${all.length === 1 ? 'Its' : 'Each'} number lies where chance puts it.</p>`
      : `<p><strong class="bad">Look closer: ${odd.length} of ${all.length} checks found something unusual</strong> (${odd.map(({ name }) => name).join(', ')}). Shuffle again with another seed. If the same check fails again, something is wrong: please report it.</p>`;
  const rows = all.map(({ name, value, expected, isAsExpected }) => [
    name,
    numberText(value),
    expectedText(expected),
    isAsExpected ? 'expected' : 'unusual',
  ]);
  return section(
    'Is it shuffled?',
    verdict,
    table(
      'Self-check. In a correct shuffle a check is unusual in about 1 of 1000 jobs.',
      ['Check', '#Found', '#Expected', 'Result'],
      rows,
      all.map(({ question }) => question),
    ),
    ...notChecked(all, report).map(paragraph),
    paragraph(
      `${tooFew === undefined ? `The checks look at ${formatPlural(report.sample.length, 'record')}, chosen uniformly: where each was read, and where it was found when the output was written. ` : ''}Checks find a broken shuffle. They cannot prove a good one: that follows from the keys of the records (docs/ORDER.md).`,
    ),
  );
}

function notChecked(all: JobReport['checks'], { piles, ...report }: Omit<JobReport, 'checks'>): string[] {
  const tooFew = whyTooFew(report);
  if (tooFew !== undefined) return [`The places of records are not checked: ${tooFew}.`];
  const hasPlaces = all.some(({ name }) => name === 'Places');
  const why = piles?.notExpected;
  return [
    ...(hasPlaces ? [] : ['Places, serial correlation and even spread are not checked: they follow from values.']),
    ...(why === undefined ? [] : [`Sizes of piles are not checked: ${why}.`]),
  ];
}

function scatter({ sample, sampleMissing, result }: JobReport): string {
  if (sample.length === 0)
    return section(
      'From where to where',
      paragraph(`There is no sample: ${sampleMissing ?? 'none of its records is in the output'}.`),
    );
  const caption = `Each dot is ${sample.length === 1 ? 'the only sampled record' : `one of ${formatCount(sample.length)} sampled records`}: to the right by its place in the inputs, which lie one behind the other, and up by its place in the output. ${sample.length < FEWEST_RECORDS ? 'So few dots show no pattern.' : 'Shuffled records fill the square evenly. An order that is kept shows as a line, a buffer shuffle as a band.'}`;
  return section('From where to where', figure(scatterChart(sample, result.records), caption));
}

function heatMap(report: JobReport): string {
  const { sample, shards, inputs } = report;
  if (sample.length < FEWEST_RECORDS) return '';
  const { rows, columns, counts, expected, rowKind, columnKind } = heatGroups(report);
  const surprises = counts.map((ofRow, i) => ofRow.map((count, j) => surprise(count, expected[i]?.[j] ?? 0)));
  const label = `Sampled records of ${rows.length} ${rowKind} in ${columns.length} ${columnKind}`;
  const estimated =
    shards?.by === 'bytes' && shards.sizes.length > 1 ? ' The shard of a record near a cut is estimated.' : '';
  const caption = `Rows are ${rowKind}, columns ${columnKind}. A faint cell has as many sampled records as its row lets expect, a strong one far more (blue) or fewer (orange). Chance alone makes a cell half as strong as the strongest once in twenty.${estimated}`;
  const inNumbers = table(
    `${label}; ${formatPlural(inputs.length, 'input')} in all`,
    [rowKind === 'inputs' ? 'Input' : 'Part of the input', ...columns.map((name) => `#${name}`)],
    rows.map((name, i) => [name, ...(counts[i] ?? []).map(formatCount)]),
  );
  return section(
    'Where the inputs went',
    figure(heatChart(label, rows, columns, surprises, columnKind), caption, KEY_OF_CELLS),
    `<details><summary>The same in numbers</summary>${inNumbers}</details>`,
  );
}

const KEY_OF_CELLS = '<p class="soft">4 standard deviations fewer than expected<span class="ramp"></span>4 more</p>';

function splitsAndMix({ result, askedSplits = [], askedShares }: JobReport): string {
  const { splits, groups } = result;
  const parts: string[] = [];
  if (splits !== undefined) {
    const rows = splits.map(({ name, records, bytes, checksum, shards }, i) => {
      const { asked = '', expected } = askedSplits[i] ?? {};
      return [
        name,
        asked,
        formatCount(records),
        expected === undefined ? 'by values' : spreadText(expected),
        formatBytes(bytes),
        formatCount(shards.length),
        checksum,
      ];
    });
    parts.push(
      table(
        'Splits, as asked and as they came out',
        ['Split', 'Asked', '#Records', '#Expected', '#Bytes', '#Shards', 'Checksum'],
        rows,
      ),
    );
  }
  if (groups !== undefined) parts.push(mixTable(groups, askedShares));
  return parts.length === 0 ? '' : section('Splits and mix', ...parts);
}

function mixTable(groups: readonly GroupReport[], shares: JobReport['askedShares']): string {
  const field = groups.find(({ unit }) => unit?.name.startsWith('.') === true)?.unit?.name;
  const rows = groups.map(({ name, factor, inputCount, read, expected, weighed, epochs, unit }) => [
    name ?? 'other inputs',
    numberText(factor),
    formatCount(inputCount),
    formatCount(read.records),
    formatCount(expected.records),
    formatCount(weighed.records),
    formatBytes(weighed.bytes),
    numberText(epochs),
    ...(field === undefined ? [] : [unit === undefined ? '' : formatCount(unit.weighed)]),
  ]);
  const heads = [
    'Group',
    '#Factor',
    '#Inputs',
    '#Records read',
    '#Expected',
    '#Came out',
    '#Bytes',
    '#Epochs',
    ...(field === undefined ? [] : [`#${field}`]),
  ];
  const caption = 'Groups of inputs: how often each record comes, and how many records that made';
  return `${shares === undefined ? '' : sharesTable(groups, shares)}${table(caption, heads, rows)}`;
}

/** What groups should have of the output, and what they have where that is counted. */
function sharesTable(groups: readonly GroupReport[], { unit, groups: asked }: AskedShares): string {
  const amounts = groups.map((group) =>
    unit === 'records' || unit === 'bytes' ? group.weighed[unit] : group.unit?.weighed,
  );
  const all = Math.max(1, sum(amounts.map((amount = 0) => amount)));
  const partOf = new Map(asked.map(({ name, part }) => [name, part]));
  const isCounted = amounts.some((amount) => amount !== undefined);
  const rows = groups.map(({ name = 'other inputs' }, i) => [
    name,
    percentText(partOf.get(name) ?? 0),
    ...(isCounted ? [percentText((amounts[i] ?? 0) / all)] : []),
  ]);
  const heads = ['Group', '#Asked', ...(isCounted ? ['#Came out'] : [])];
  return table(`Shares of the output, in ${unit.startsWith('.') ? `the sum of ${unit}` : unit}`, heads, rows);
}

function time({ profile, watch }: JobReport): string {
  const { pass1, pass2, tasks } = profile;
  const phases = Object.keys(pass1).filter((phase) => has(pass1, phase) + has(pass2, phase) > 0.0005);
  const total = (pass: object) => Object.values(pass).reduce((all: number, each: number) => all + each, 0);
  const share = (pass: object, phase: string) => percentText(has(pass, phase) / Math.max(1e-9, total(pass)));
  const text = likeSeconds(phases.flatMap((phase) => [has(pass1, phase), has(pass2, phase)]));
  const spent = (pass: object, phase: string) =>
    has(pass, phase) > 0 ? [text(has(pass, phase)), share(pass, phase)] : ['', ''];
  const rows = phases.map((phase) => [
    phase,
    ...spent(pass1, phase),
    ...spent(pass2, phase),
    MEANINGS.get(phase) ?? '',
  ]);
  const jobSeconds = secondsOf(profile);
  const parts = [
    figure(
      timelineChart(profile),
      `Above, the steps of the job. Below, what each worker did: one bar for ${tasks.length === 1 ? 'its only task' : `each of ${formatCount(tasks.length)} tasks`}.`,
      '<p><b>Workers</b>:<span class="key first"></span>pass 1, reading<span class="key second"></span>pass 2, writing</p>',
    ),
    table(
      'Time of all workers together, by phase',
      ['Phase', '#Pass 1', '#Part of it', '#Pass 2', '#Part of it', 'What it is'],
      rows,
    ),
  ];
  const { devices = [], moments = [] } = watch ?? {};
  if (moments.length > 2) {
    parts.push(
      figure(
        throughputChart('the job reads from its inputs and writes to its output', moments, jobSeconds),
        'Of the whole job: bytes read from the inputs as stored, and bytes of records written. Compressed inputs count as they are on disk.',
        keyOfSpeed('The job'),
      ),
      ...devices.flatMap((device, i) => deviceFigures(device, i, moments, jobSeconds)),
    );
    if (devices.length > 0) parts.push(deviceTable(devices, moments));
  } else parts.push('<p class="soft">The job was too short for charts of its throughput.</p>');
  return section('Where the time went', ...parts);
}

const keyOfSpeed = (of: string) =>
  `<p><b>${escaped(of)}</b>:<span class="key first"></span>read<span class="key dashed"></span>written</p>`;

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['read', 'reading inputs'],
  ['decompress', 'decoding inputs'],
  ['scan', 'finding where records end'],
  ['scatter', 'drawing keys, and copying records to piles'],
  ['hash', 'checksums'],
  ['write', 'writing piles and output, to disk or memory'],
  ['load', 'reading piles'],
  ['sort', 'sorting the keys of a pile'],
  ['gather', 'copying records in the new order'],
  ['encode', 'compressing'],
  ['sync', 'making a disk write what is in memory'],
  ['gate', 'waiting for a turn at a device'],
  ['turn', 'waiting for the part of the output that comes first'],
  ['other', 'everything else'],
  ['idle', 'waiting for a task'],
]);

/** What a device moved, above how many calls it had at a time. */
function deviceFigures(device: WatchedDevice, index: number, moments: readonly Moment[], total: number): string[] {
  const { name, kind, mostCalls } = device;
  const amounts = moments.map(({ seconds, traffic }) => ({
    readBytes: 0,
    writtenBytes: 0,
    ...traffic[index],
    seconds,
  }));
  return [
    figure(
      throughputChart(`go from and to ${name}`, amounts, total),
      `What ${name} (${kind}) gave and took: inputs, temp data and output that lie on it. Writes count when the system takes them.`,
      keyOfSpeed(name),
    ),
    figure(
      callsChart(device, index, moments, total),
      `Large calls under way on ${name}. The dashed line is its gate: ${mostCalls} at a time. A line that often reaches the gate means that the device was the limit.`,
      `<p><b>${escaped(name)}</b>: calls at a time</p>`,
    ),
  ];
}

function deviceTable(devices: readonly WatchedDevice[], moments: readonly Moment[]): string {
  const last = moments.at(-1);
  const rows = devices.map(({ name, kind, mostCalls }, i) => {
    const calls = moments.map(({ traffic }) => traffic[i]?.calls ?? 0);
    const { readBytes = 0, writtenBytes = 0 } = last?.traffic[i] ?? {};
    return [
      name,
      kind,
      formatBytes(readBytes),
      formatBytes(writtenBytes),
      speedText(readBytes + writtenBytes, last?.seconds ?? 0),
      numberText(calls.reduce((all, each) => all + each, 0) / calls.length),
      formatCount(mostCalls),
      percentText(calls.filter((count) => count >= mostCalls).length / calls.length),
    ];
  });
  const heads = ['Device', 'Kind', '#Read', '#Written', '#Read and written', '#Mean calls', '#Gate', '#At its gate'];
  return table(`Devices, looked at ${formatPlural(moments.length, 'time')}`, heads, rows);
}

function has(pass: object, phase: string): number {
  return Number(new Map<string, unknown>(Object.entries(pass)).get(phase) ?? 0);
}

function sizes({ piles, shards, result }: JobReport): string {
  if (piles === undefined || shards === undefined) return '';
  const { records, expected, notExpected } = piles;
  const parts: string[] = [];
  if (records.length > 1) {
    const { least, most } = rangeOf(records);
    const found = `${formatCount(records.length)} piles have from ${formatCount(least)} to ${formatCount(most)} records.`;
    const caption =
      expected === undefined
        ? `No range is expected here: ${notExpected}.`
        : `With uniform keys each has ${spreadText(expected)} (mean ± standard deviation of a binomial distribution). ${records.length > MOST_PILES ? '' : 'The grey band is two of them to each side. '}${withinText(records, expected)}`;
    parts.push(figure(pilesChart(piles), `${found} ${caption}`));
  } else parts.push(paragraph('All records were on one pile: the job was small enough.'));
  if (shards.sizes.length > 1) parts.push(shardTable(shards, result));
  return section('Sizes of piles and shards', ...parts);
}

/** There may be too many for the arguments of `Math.min`. */
function rangeOf(values: readonly number[]): { least: number; most: number } {
  const first = values[0] ?? 0;
  return values.reduce(({ least, most }, value) => ({ least: Math.min(least, value), most: Math.max(most, value) }), {
    least: first,
    most: first,
  });
}

/** A row for each split, or one for all. */
function shardTable({ by, sizes }: NonNullable<JobReport['shards']>, { splits }: JobReport['result']): string {
  const text = by === 'records' ? formatCount : formatBytes;
  let begin = 0;
  const parts = (splits ?? [{ name: 'all', shards: sizes }]).map(({ name, shards }) => {
    const own = sizes.slice(begin, begin + Math.max(1, shards.length));
    begin += own.length;
    return { name, own };
  });
  const rows = parts.map(({ name, own }) => {
    const total = own.reduce((all, size) => all + size, 0);
    const { least, most } = rangeOf(own);
    return [
      name,
      formatCount(own.length),
      text(least),
      text(most),
      by === 'records' ? numberText(total / own.length) : text(total / own.length),
    ];
  });
  const about =
    by === 'records'
      ? 'These are exact, not chance: with a number of shards they differ by at most one, with a number of records only the last file has fewer.'
      : 'Before compression. No file exceeds the limit, and each ends at the end of a record.';
  const what = by === 'records' ? 'Records of the output files' : 'Bytes of the output files';
  return (
    table(what, [splits === undefined ? 'Output' : 'Split', '#Files', '#Smallest', '#Largest', '#Mean'], rows) +
    paragraph(about)
  );
}

/** Of fewer piles, percentages say nothing. */
const FEWEST_PARTS = 20;

function withinText(
  records: readonly number[],
  { mean, standardDeviation }: { mean: number; standardDeviation: number },
): string {
  if (records.length < FEWEST_PARTS) return '';
  const within = (deviations: number) =>
    records.filter((count) => Math.abs(count - mean) <= deviations * standardDeviation).length / records.length;
  return `${numberText(100 * within(1))} % of them lie within one standard deviation (chance: 68 %), ${numberText(100 * within(2))} % within two (chance: 95 %).`;
}

function repeat({ call, environment, result }: JobReport): string {
  const { pileshuf, node, platform, cpu, cpuCount, memoryBytes } = environment;
  const rows = [
    ['pileshuf', pileshuf],
    ['Node.js', node],
    ['System', platform],
    ['Processors', `${cpuCount} of ${cpu}`],
    ['Memory', formatBytes(memoryBytes)],
  ];
  const place = call.directory === undefined ? '' : paragraph(`In the directory ${nameText(call.directory)}:`);
  const command =
    call.command === undefined
      ? paragraph(`A program called the library, with the seed ${result.seed}.`)
      : `${place}<pre><code>${call.command
          .split(' ')
          .map((word) => `<span>${escaped(word)}</span>`)
          .join(' ')}</code></pre>`;
  return section(
    'To repeat the job',
    command,
    paragraph(
      'The same seed and inputs give the same bytes, on any machine, with any number of workers and any amount of memory. An output or a report that is there already is replaced only with --force.',
    ),
    table('Where it ran', ['What', 'Value'], rows),
  );
}
