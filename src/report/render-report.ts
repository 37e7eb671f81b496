/** The page of a report, made of its data alone. What draws it is loaded when it is called. */
import type { JobReport } from '../options/reports.js';

/** One file of XHTML without scripts, fonts or pictures: it needs no network, and follows light, dark and print. */
export async function reportPage(report: JobReport): Promise<string> {
  const { pageText } = await import('./report-page.js');
  return pageText(report);
}
