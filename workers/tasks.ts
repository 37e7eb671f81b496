/**
 * All tasks, by name. Worker threads load this file as they start; the coordinator imports it when a job is small
 * enough for one thread, which lets go of the job's state afterwards.
 */
export { runCountTask as count } from './tasks/count-byte.js';
export { forgetJob } from './tasks/job-share.js';
export { runLoadTask as load } from './tasks/load-portion.js';
export { runMeasureTask as measure } from './tasks/measure-cut.js';
export { runNoteTask as note } from './tasks/note-records.js';
export { runReadBackTask as readBack } from './tasks/read-back.js';
export { runScatterTask as scatter } from './tasks/scatter.js';
export { runShuffleTask as shuffle } from './tasks/shuffle.js';
