/** stub */
import type { JobReport } from '../options.js';
export function reportPage(data: JobReport): string { return JSON.stringify(data); }
