/**
 * The beginnings of files that are not lines. Those of pyarrow 25, h5py 3.16, fastavro 1.12, NumPy 2.4 and Python's
 * standard library are as these programs wrote them.
 */
import { npyHeaderOf } from './any-headers.js';
import { tfrecordOf } from './plain-framings.js';
import { TAR_DIALECTS, tarOf } from './plain-tar.js';

const written = (hex: string) => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.from(' and the rest\nof the file\n')]);
const begun = (magic: string) => Buffer.concat([Buffer.from(magic, 'latin1'), Buffer.from('\0\x01rest\nof it\n')]);
const TEXT = Buffer.from('one\ntwo\n');
const utf16 = Buffer.from('\ufefftext of two\nlines\n', 'utf16le');

/** By the name that the message has. */
export const foreignSamples: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['a NumPy array (.npy)', Buffer.concat([npyHeaderOf('<f4', 3, []), Buffer.alloc(12, '\n')])],
  ...TAR_DIALECTS.map((dialect): [string, Buffer] => [
    'a tar archive',
    tarOf([{ name: '0.txt', data: TEXT, dialect }]),
  ]),
  ['TFRecords', Buffer.concat([tfrecordOf(Buffer.from('one\n')), tfrecordOf(Buffer.from('two'))])],
  ['Parquet data', written('50415231150415807d15d43e4c15d00f1500120000c03e00')],
  ['Parquet data', written('50415231150015845e15845e2c150615061506')],
  ['Parquet data', begun('PARE')],
  ['Arrow data', written('4152524f57310000ffffffffa8000000')],
  ['Arrow data', written('46454131000000000000000000000000')],
  ['Arrow data', written('ffffffffa80000001000000000000a000c000600050008000a00')],
  ['ORC data', written('4f52430a07120508e80750000a160a02')],
  ['ORC data', written('4f52431300000a07120508e807500033')],
  ['ORC data', written('4f5243080310002212080c120201021a')],
  ['Avro data', written('4f626a0104146176726f2e636f646563086e756c6c')],
  ['HDF5 data', written('894844460d0a1a0a0000000000080800')],
  ['HDF5 data', Buffer.concat([Buffer.alloc(512), written('894844460d0a1a0a0000000000080800')])],
  ['HDF5 data', Buffer.concat([Buffer.alloc(4096, 'of a user\n'), written('894844460d0a1a0a0000000000080800')])],
  ['a Python pickle', written('800495bd0a0000000000005d94284b00')],
  ['a Python pickle', written('80059506000000000000005d944b0161')],
  ['an SQLite database', written('53514c69746520666f726d6174203300')],
  ['WARC records', Buffer.from('WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n')],
  ['BAM alignments', begun('BAM\x01')],
  ['CRAM alignments', begun('CRAM\x03')],
  ['BCF variants', begun('BCF\x02')],
  ['a zip archive (.npz, .pt and .xlsx are zip archives)', written('504b03042d0000000000000021003c08')],
  [
    'a zip archive (.npz, .pt and .xlsx are zip archives)',
    Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(18)]),
  ],
  ['a 7z archive', begun('7z\xbc\xaf\x27\x1c')],
  ['UTF-16 text', utf16],
  ['UTF-16 text', Buffer.from(utf16).swap16()],
  ['a Hadoop sequence file', begun('SEQ\x06\x19org')],
  ['MATLAB data', begun('MATLAB 5.0 MAT-file, Platform: GLNXA64')],
  ['R data', written('580a000000030004030000030500')],
  ['R data', Buffer.from('RDX3\nX\n\0\0\0\x03')],
  ['a Python pickle', written('80028a0a6cfc9c46f9206aa85019')],
  ['a DuckDB database', begun('\x12\x34\x56\x78\x9a\xbc\xde\xf0DUCK')],
  ['an LMDB database', Buffer.concat([Buffer.alloc(16), Buffer.from('dec0efbe01000000', 'hex')])],
  ['tensors (.safetensors)', Buffer.from('\x58\0\0\0\0\0\0\0{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}')],
  ['a model (.gguf)', begun('GGUF\x03\0\0\0')],
  ['the index of tokens of Megatron (.idx)', begun('MMIDIDX\0\0\x01')],
  ['a RAR archive', begun('Rar!\x1a\x07\x01')],
  ['data that compress has compressed', begun('\x1f\x9d\x90')],
  ['data that lzma has compressed', written('5d00008000ffffffffffffffff00')],
  ['data that lzip has compressed', begun('LZIP\x01\x0c')],
  ['data that lzop has compressed', begun('\x89LZO\0\r\n\x1a\n')],
  ['data that snappy has compressed', begun('\xff\x06\0\0sNaPpY')],
  ['data that zlib has compressed', begun('x\x9c')],
  ['an old Office document', begun('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')],
  ['a GIF image', begun('GIF89a')],
  ['a TIFF image', begun('II*')],
  ['a BMP image', begun('BM\x36\x10\x0e\0\0\0\0\0')],
  ['sound, pictures or video (RIFF)', begun('RIFF\x24\x08\0\0WAVEfmt ')],
  ['sound or video', begun('ID3\x04')],
  ['sound or video', begun('\xff\xfb\x90')],
  ['sound or video', begun('OggS')],
  ['sound or video', begun('fLaC')],
  ['sound or video', begun('\x1a\x45\xdf\xa3')],
  ['sound or video', begun('\0\0\0\x20ftypisom')],
  ['a program', begun('\x7fELF\x02')],
  ['a program', begun('MZ\x90')],
  ['notes that macOS keeps beside files', begun('\0\x05\x16\x07')],
  ['a PDF document', Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n', 'latin1')],
  ['a PNG image', begun('\x89PNG\r\n\x1a\n')],
  ['a JPEG image', begun('\xff\xd8\xff\xe0')],
];
