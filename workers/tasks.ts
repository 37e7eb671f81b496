/**
 * All tasks, by name. Worker threads load this file as they start; the coordinator imports it when a job is small
 * enough for one thread, which lets go of the job's state afterwards.
 */
export { runCountTask as count } from './count-byte.js';
export { forgetJob } from './job-share.js';
export { runLoadTask as load } from './load-portion.js';
export { runMeasureTask as measure } from './measure-cut.js';
export { runNoteTask as note } from './note-records.js';
export { runReadBackTask as readBack } from './read-back.js';
export { runScatterTask as scatter } from './scatter.js';
export { runShuffleTask as shuffle } from './shuffle.js';
