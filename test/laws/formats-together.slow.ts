/** Every combination of format, storage, cut, number of threads and place of the output. */
import { testFormatsTogether, wholeProduct } from './formats-together.js';

testFormatsTogether(wholeProduct);
