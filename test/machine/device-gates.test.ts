/**
 * The gates of a job: one for each device, however many paths lead to it, with the permits of its class or of an
 * --io-limit, and none before memory unless requested.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { InputError, SystemError, UsageError } from '#src/errors.js';
import { UNGATED } from '#src/floor/job-control.js';
import { DeviceGates, describeDevice } from '#src/machine/devices.js';
import { reasonNotToMount, useMounts } from '../fixtures/mounts.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

describe('DeviceGates', () => {
  const directory = useTestDirectory();

  it('gives all paths on one device one gate', () => {
    mkdirSync(directory.path('below'));
    writeFileSync(directory.path('below', 'file'), '');
    const gates = new DeviceGates({ [directory.path()]: 5 });
    const paths = [directory.path(), directory.path('below', 'file'), directory.temp, directory.path('below')];
    expect(paths.map((path) => gates.gateOf(path, 'temp'))).toEqual([0, 0, 0, 0]);
    expect(gates.permits).toEqual([5]);
    expect(gates.devices.map(({ id }) => id)).toEqual([gates.deviceOf(directory.path(), 'temp').id]);
  });

  it('takes a limit for the device, whichever path of it was named', () => {
    mkdirSync(directory.path('below'));
    const gates = new DeviceGates({ [directory.path('below')]: 3 });
    expect(gates.gateOf(directory.temp, 'temp')).toBe(0);
    expect(gates.permits).toEqual([3]);
  });

  const somewhere = [import.meta.filename, '/dev/shm', '/proc'].filter((path) => existsSync(path));
  it.each(somewhere)('gives %s the permits of its class without a limit', (path) => {
    const { ioLimit } = describeDevice(path);
    const gates = new DeviceGates({});
    const isLimited = Number.isFinite(ioLimit);
    expect(gates.gateOf(path, 'temp')).toBe(isLimited ? 0 : UNGATED);
    expect(gates.permits).toEqual(isLimited ? [ioLimit] : []);
  });

  it('refuses two limits for one device, and takes the same one twice', () => {
    const limits = (temp: number) => ({ [directory.path()]: 5, [directory.temp]: temp });
    expect(() => new DeviceGates(limits(5))).not.toThrow();
    expect(() => new DeviceGates(limits(6))).toThrow(UsageError);
    expect(() => new DeviceGates(limits(6))).toThrow(
      `\`ioLimits\` gives 5 for ${directory.path()} and 6 for ${directory.temp}, which lie on one device; give one of them`,
    );
  });

  it('says so when a path is gone, by its role', () => {
    const gates = new DeviceGates({});
    expect(() => gates.gateOf(directory.path('none'), 'input')).toThrow(InputError);
    expect(() => gates.gateOf(directory.path('none'), 'output')).toThrow(SystemError);
  });

  it('refuses a limit for a path that does not exist', () => {
    const make = () => new DeviceGates({ [directory.path('none')]: 2 });
    expect(make).toThrow(UsageError);
    expect(make).toThrow(/^`ioLimits` .*\/none=2: cannot find the device of .*\/none: no such file or directory$/);
  });
});

describe.skipIf(reasonNotToMount !== undefined)(`DeviceGates and memory ${reasonNotToMount ?? ''}`, () => {
  const directory = useTestDirectory();
  const mountTmpfs = useMounts();

  it('has no gate before a file system in memory', () => {
    const small = mountTmpfs(directory.path('small'), 'size=64k');
    const gates = new DeviceGates({});
    expect(gates.gateOf(small, 'temp')).toBe(UNGATED);
    expect(gates.permits).toEqual([]);
  });

  it('has one when a limit was given, and one for each file system', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => mountTmpfs(directory.path(name), 'size=64k'));
    if (a === undefined || b === undefined || c === undefined) throw new RangeError('nothing was mounted');
    const gates = new DeviceGates({ [a]: 2, [b]: 7 });
    expect([c, b, a, b].map((path) => gates.gateOf(path, 'temp'))).toEqual([UNGATED, 0, 1, 0]);
    expect(gates.permits).toEqual([7, 2]);
  });
});
