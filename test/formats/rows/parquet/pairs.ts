/** Pairs of files that differ in one thing, each as a usual program writes it (fixtures/parquet/make-pairs.py). */

/** Two files that become one. */
export const UNITED: readonly (readonly [string, string])[] = [
  ['int64', 'int64 polars'],
  ['int64', 'int64 DuckDB'],
  ['int32', 'int32 DuckDB'],
  ['list', 'list polars'],
  ['list', 'list DuckDB'],
  ['list', 'list item'],
  ['required', 'optional'],
  ['required below', 'optional below'],
  ['map required', 'map'],
  ['map', 'map DuckDB'],
  ['null', 'string'],
  ['null', 'struct'],
  ['null', 'list'],
  ['null', 'duration s'],
  ['null', 'string DuckDB'],
  ['null polars', 'string polars'],
  ['null pandas', 'string pandas'],
  ['list of null', 'list of string'],
  ['list of null', 'list of list'],
  ['features null', 'features string'],
  ['neg, pos', 'neg, pos again'],
  ['image', 'bytes and path'],
  ['points', 'lines'],
  ['UTC', 'UTC DuckDB'],
  ['UTC', 'UTC polars'],
  ['Berlin', 'Berlin fastparquet'],
  ['local ms', 'local s'],
  ['decimal', 'decimal32'],
  ['category', 'string pandas'],
  ['2 rows', '3 rows'],
  ['2 rows', '3 rows fastparquet'],
  ['string', 'large string'],
  ['UUID', 'UUID DuckDB'],
  ['date32', 'date64'],
  ['1 row', '2 rows counted'],
];

/** Two files that become one, and what is told. */
export const TOLD: readonly (readonly [string, string, string])[] = [
  ['metres', 'int64', '`unit` of column x'],
  ['key m', 'key km', '`unit`'],
  ['key m', 'int64', '`unit`'],
];

/** Two files that are refused, with what is said of the column in each of them. */
export const REFUSED: readonly (readonly [readonly [string, string], readonly [string, string]])[] = [
  [
    ['duration s', 'is duration[s]'],
    ['duration ms', 'is duration[ms]'],
  ],
  [
    ['duration s', 'is duration[s]'],
    ['int64', 'is int64'],
  ],
  [
    ['int64', 'is int64'],
    ['int32 DuckDB', 'is int32'],
  ],
  [
    ['int64', 'is int64'],
    ['uint64', 'is uint64'],
  ],
  [
    ['list of 3', 'is fixed_size_list[3]'],
    ['list of 4', 'is fixed_size_list[4]'],
  ],
  [
    ['list of 3', 'is fixed_size_list[3]'],
    ['list', 'is list'],
  ],
  [
    ['neg, pos', 'is described in the metadata `huggingface` as ClassLabel(neg, pos)'],
    ['pos, neg', 'is described in the metadata `huggingface` as ClassLabel(pos, neg)'],
  ],
  [
    ['neg, pos', 'is described in the metadata `huggingface` as ClassLabel(neg, pos)'],
    ['int64', 'is not described in the metadata `huggingface`'],
  ],
  [
    ['a, b below', 'is described in the metadata `huggingface` as ClassLabel(a, b)'],
    ['b, a below', 'is described in the metadata `huggingface` as ClassLabel(b, a)'],
  ],
  [
    ['2 x 2', 'is list as datasets.features.features.Array2DExtensionType [[2, 2], "int32"]'],
    ['1 x 4', 'is list as datasets.features.features.Array2DExtensionType [[1, 4], "int32"]'],
  ],
  [
    ['tensor 2 x 2', 'is fixed_size_list[4] as arrow.fixed_shape_tensor {"shape": [2, 2]}'],
    ['tensor 1 x 4', 'is fixed_size_list[4] as arrow.fixed_shape_tensor {"shape": [1, 4]}'],
  ],
  [
    ['points', 'is binary as geoarrow.wkb {"crs": EPSG:4326}'],
    ['Mercator', 'is binary as geoarrow.wkb {"crs": EPSG:3857}'],
  ],
  [
    ['points', 'is binary as geoarrow.wkb {"crs": EPSG:4326}'],
    ['GeoArrow', 'is struct as geoarrow.point {"crs": EPSG:4326}'],
  ],
  [
    ['Berlin', 'is timestamp[us, Europe/Berlin]'],
    ['UTC', 'is timestamp[us, UTC]'],
  ],
  [
    ['UTC', 'is timestamp[us, UTC]'],
    ['local', 'is timestamp[us]'],
  ],
  [
    ['local', 'is timestamp[us]'],
    ['local ms', 'is timestamp[ms]'],
  ],
  [
    ['local', 'is timestamp[us]'],
    ['int96', 'is timestamp in int96'],
  ],
  [
    ['decimal', 'is decimal(9, 2) in binary of 4 bytes'],
    ['decimal in int32', 'is decimal(9, 2) in int32'],
  ],
  [
    ['decimal', 'is decimal(9, 2) in binary of 4 bytes'],
    ['decimal of scale 1', 'is decimal(9, 1) in binary of 4 bytes'],
  ],
  [
    ['ordered', 'is string, an ordered dictionary'],
    ['category', 'is string'],
  ],
  [
    ['ordered fastparquet', 'is string, an ordered dictionary'],
    ['category fastparquet', 'is string'],
  ],
  [
    ['enum u, v', 'has `_PL_ENUM_VALUES2` 1;u1;v'],
    ['enum v, u', 'has `_PL_ENUM_VALUES2` 1;v1;u'],
  ],
  [
    ['string', 'is string'],
    ['binary', 'is binary'],
  ],
  [
    ['string', 'is string'],
    ['JSON', 'is json'],
  ],
  [
    ['UUID', 'is uuid'],
    ['16 bytes', 'is binary of 16 bytes'],
  ],
  [
    ['my.type 1', 'is int64 as my.type 1'],
    ['my.type 2', 'is int64 as my.type 2'],
  ],
  [
    ['metres', 'has `unit` m'],
    ['kilometres', 'has `unit` km'],
  ],
  [
    ['date32', 'is date'],
    ['local ms', 'is timestamp[ms]'],
  ],
  [
    ['float32', 'is float32'],
    ['float64', 'is float64'],
  ],
];
