/** The laws of stores, with many cases. */
import { testStoreLaws } from './store-laws.js';

testStoreLaws(20);
