/**
 * What kind of thing holds the bytes, as far as it decides how many large reads and writes it can
 * serve well at one time.
 */

export type DeviceClass = 'rotating' | 'solid-state' | 'virtual' | 'memory' | 'network' | 'unknown';

/** Large I/O calls at one time when the user says nothing. */
export const defaultIoLimits: Readonly<Record<DeviceClass, number>> = {
  /** One head: a second call makes it seek between the two, and the sum is slower than either. */
  rotating: 1,
  /** Many flash chips behind deep queues: several MB-sized calls are needed to keep all of them busy. */
  'solid-state': 16,
  /** Usually flash or a storage cluster that wants parallel calls, perhaps a lone disk that suffers from many. */
  virtual: 8,
  /** Calls in flight hide the round trip; more only fill the server's queue. */
  network: 8,
  /** Enough to overlap on flash, few enough not to ruin a rotating disk. */
  unknown: 4,
  /** A copy in RAM, bounded by the cores and not by the device. */
  memory: Number.POSITIVE_INFINITY,
};
