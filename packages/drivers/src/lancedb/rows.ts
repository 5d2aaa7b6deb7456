import type { Hit, IndexRow } from '@inlay/knowledge'
import type { Data, DataType, RecordBatch, Schema, Table } from 'apache-arrow'
import type { Space } from '../hybrid-search/open-state.ts'
import type { Engine } from './engine.ts'

export const searchColumn = 'search_text'

/** Name of the column with all properties of a hit besides its text; see `packChunkMetadata`. */
export const metadataColumn = 'card'

/** Columns of a hit. Only two, since each column costs 0.05 ms in a search for ten rows, and more for thirty. */
export const hitColumns: readonly string[] = ['text', metadataColumn]

/** Incremented when columns change: an index of another format has to be rebuilt. */
const format = '2'

/** Schema of the table. Its metadata contains the space, so both are created in one step. */
export function schemaOf({ arrow }: Engine, space: Space | undefined): Schema {
  const { Field, Float32, FixedSizeList, Int32, List, TimeUnit, Timestamp, Utf8 } = arrow
  const text = (name: string): InstanceType<typeof Field> => new Field(name, new Utf8(), false)
  const time = (name: string, nullable: boolean): InstanceType<typeof Field> =>
    new Field(name, new Timestamp(TimeUnit.MILLISECOND, 'UTC'), nullable)
  const list = (name: string, type: DataType): InstanceType<typeof Field> =>
    new Field(name, new List(new Field('item', type, true)), false)
  const fields = [
    text('document_id'),
    text('generation'),
    new Field('position', new Int32(), false),
    text('text'),
    text(searchColumn),
    text('source'),
    list('tags', new Utf8()),
    list('pairs', new Int32()),
    time('updated_at', false),
    time('own_updated_at', true),
    time('created_at', true),
    text(metadataColumn),
  ]
  if (space)
    fields.push(new Field('vector', new FixedSizeList(space.dimensions, new Field('item', new Float32(), true)), false))
  return new arrow.Schema(fields, new Map(Object.entries({ 'inlay.format': format, 'inlay.space': nameOf(space) })))
}

export function isOfSpace(schema: Schema, space: Space | undefined): boolean {
  return schema.metadata.get('inlay.space') === nameOf(space)
}

export function isOfFormat(schema: Schema): boolean {
  return schema.metadata.get('inlay.format') === format
}

function nameOf(space: Space | undefined): string {
  return space ? `${space.dimensions} ${space.id}` : ''
}

/** Converts rows to an Arrow table, column by column: arrays of objects would take two to six times as long. */
export function toArrow(engine: Engine, schema: Schema, rows: readonly IndexRow[]): Table {
  const { arrow } = engine
  const [tags, pairs] = [rows.map((row) => row.tags), rows.map((row) => row.pairs)]
  const columns: Record<string, Data> = {
    document_id: texts(engine, rows, (row) => row.documentId),
    generation: texts(engine, rows, (row) => row.generation),
    position: numbers(engine, rows, (row) => row.position),
    text: texts(engine, rows, (row) => row.text),
    [searchColumn]: texts(engine, rows, (row) => row.searchText),
    source: texts(engine, rows, (row) => row.source),
    tags: lists(
      engine,
      tags,
      texts(engine, tags.flat(), (tag) => tag),
    ),
    pairs: lists(
      engine,
      pairs,
      numbers(engine, pairs.flat(), (pair) => pair),
    ),
    updated_at: times(engine, rows, (row) => row.updatedAt),
    own_updated_at: times(engine, rows, (row) => row.ownUpdatedAt),
    created_at: times(engine, rows, (row) => row.createdAt),
    [metadataColumn]: texts(engine, rows, packChunkMetadata),
  }
  const children = schema.fields.map(({ name }) => columns[name] ?? vectors(engine, schema, rows))
  const data = arrow.makeData({ type: new arrow.Struct(schema.fields), length: rows.length, nullCount: 0, children })
  const batch: RecordBatch = new arrow.RecordBatch(schema, data)
  return new arrow.Table(schema, [batch])
}

/** Concatenates texts and records their offsets. ASCII is written directly, without computing its size first. */
function texts<Item>({ arrow }: Engine, items: readonly Item[], textOf: (item: Item) => string): Data {
  const all = items.map(textOf)
  const offsets = new Int32Array(all.length + 1)
  let [sum, longest] = [0, 0]
  for (const text of all) {
    sum += text.length
    longest = Math.max(longest, text.length)
  }
  let bytes = Buffer.allocUnsafe(sum + 2 * longest)
  let size = 0
  for (const [at, text] of all.entries()) {
    // A UTF-16 unit takes at most three bytes.
    if (size + 3 * text.length > bytes.length) {
      const needed = size + Buffer.byteLength(text)
      if (needed > bytes.length) bytes = Buffer.concat([bytes.subarray(0, size)], Math.max(needed, 2 * bytes.length))
    }
    size += bytes.write(text, size)
    offsets[at + 1] = size
  }
  return arrow.makeData({
    type: new arrow.Utf8(),
    length: all.length,
    nullCount: 0,
    valueOffsets: offsets,
    data: new Uint8Array(bytes.buffer, bytes.byteOffset, size),
  })
}

function numbers<Item>({ arrow }: Engine, items: readonly Item[], numberOf: (item: Item) => number): Data {
  const data = Int32Array.from(items, numberOf)
  return arrow.makeData({ type: new arrow.Int32(), length: items.length, nullCount: 0, data })
}

/** @param child the items of all lists, concatenated */
function lists({ arrow }: Engine, all: readonly (readonly unknown[])[], child: Data): Data {
  const offsets = new Int32Array(all.length + 1)
  for (const [at, items] of all.entries()) offsets[at + 1] = offsets[at]! + items.length
  const type = new arrow.List(new arrow.Field('item', child.type, true))
  return arrow.makeData({ type, length: all.length, nullCount: 0, valueOffsets: offsets, child })
}

function times({ arrow }: Engine, rows: readonly IndexRow[], timeOf: (row: IndexRow) => number | null): Data {
  const values = new BigInt64Array(rows.length)
  const present = new Uint8Array(Math.ceil(rows.length / 8))
  let nullCount = 0
  for (const [at, row] of rows.entries()) {
    const time = timeOf(row)
    if (time === null) nullCount++
    else {
      values[at] = BigInt(Math.trunc(time))
      present[at >> 3]! |= 1 << (at & 7)
    }
  }
  return arrow.makeData({
    type: new arrow.Timestamp(arrow.TimeUnit.MILLISECOND, 'UTC'),
    length: rows.length,
    nullCount,
    ...(nullCount > 0 ? { nullBitmap: present } : {}),
    data: values,
  })
}

function vectors({ arrow }: Engine, schema: Schema, rows: readonly IndexRow[]): Data {
  const type = schema.fields.at(-1)!.type
  const dimensions = rows[0]?.vector?.length ?? 0
  const values = new Float32Array(rows.length * dimensions)
  for (const [at, row] of rows.entries()) values.set(row.vector!, at * dimensions)
  const child = arrow.makeData({ type: new arrow.Float32(), length: values.length, nullCount: 0, data: values })
  return arrow.makeData({ type, length: rows.length, nullCount: 0, child } as never)
}

/** Stored before the chunk metadata in its column: all properties of a hit besides its text. */
type Head = readonly [documentId: string, generation: string, position: number, source: string, updatedAt: number]

function packChunkMetadata({ documentId, generation, position, source, updatedAt, chunkMetadata }: IndexRow): string {
  // JSON contains no line break, so the first one separates the two.
  return `${JSON.stringify([documentId, generation, position, source, updatedAt] satisfies Head)}
${chunkMetadata}`
}

/** A row as returned by the engine: the columns of a hit, vectors as Arrow lists. */
export interface FoundRow {
  readonly text: string
  readonly [metadataColumn]: string
  readonly vector?: { toArray(): Float32Array } | null
  readonly [searchColumn]?: string
  readonly _score?: number
  readonly _distance?: number
}

export function toHit(row: FoundRow, score: number): Hit {
  // The engine makes a property anew each time it is asked for.
  const { text, [metadataColumn]: packed } = row
  const end = packed.indexOf('\n')
  // Written only by `packChunkMetadata`.
  const [documentId, generation, position, source, updatedAt] = JSON.parse(packed.slice(0, end)) as Head
  return { documentId, generation, position, text, chunkMetadata: packed.slice(end + 1), source, updatedAt, score }
}
