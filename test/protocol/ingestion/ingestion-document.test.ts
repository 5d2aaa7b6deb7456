import { describe, expect, it } from 'vitest'
import { type IngestionRequest, ingestionRequestSchema, parseWith, sourceValues } from '@inlay/protocol'

const minimal = { semantic_identifier: 'Rules', sections: [{ text: 'No flash.' }], metadata: {} }
const read = (fields: object, beside: object = {}): IngestionRequest =>
  parseWith(ingestionRequestSchema, { document: { ...minimal, ...fields }, ...beside }, 'body')

describe('an ingestion request', () => {
  it('needs a semantic identifier, sections and metadata only', () => {
    expect(read({})).toEqual({
      document: {
        id: null,
        semantic_identifier: 'Rules',
        sections: [{ type: 'text', text: 'No flash.', link: null, image_file_id: null, heading: null }],
        metadata: {},
        source: 'ingestion_api',
        title: null,
        doc_updated_at: null,
        doc_created_at: null,
        primary_owners: null,
        secondary_owners: null,
        file_id: null,
        chunk_count: null,
        from_ingestion_api: null,
      },
      cc_pair_id: 1,
    })
  })

  it('may be empty in all three', () => {
    expect(read({ semantic_identifier: '', sections: [], metadata: {} }).document).toMatchObject({
      semantic_identifier: '',
      sections: [],
    })
  })

  it.each([
    [undefined, 1],
    [null, 1],
    [0, 1],
    [3, 3],
    [-2, -2],
  ])('with pair %j goes to pair %j', (given, pair) => {
    expect(read({}, { cc_pair_id: given }).cc_pair_id).toBe(pair)
  })

  it('keeps its id exactly, whatever it holds', () => {
    for (const id of ['https://a.example/b c', ' x ', '%2F', 'é\u0301🛰', "'; --", '..', '', '\n'])
      expect(read({ id }).document.id).toBe(id)
  })

  it('keeps null, empty and given titles apart', () => {
    expect([null, '', 'T'].map((title) => read({ title }).document.title)).toEqual([null, '', 'T'])
  })

  it('drops nothing of the text but NUL and half characters', () => {
    const text = 'a\0 — “b” 🛰\uDC00 \u0007\u200B'
    expect(read({ sections: [{ text }] }).document.sections[0]).toMatchObject({ text: 'a — “b” 🛰 \u0007\u200B' })
  })

  it.each(sourceValues)('may come from %s', (source) => {
    expect(read({ source }).document.source).toBe(source)
  })

  it('reads a date without offset as UTC', () => {
    expect(read({ doc_updated_at: '2026-01-31T09:30:00', doc_created_at: '2026-01-31' }).document).toMatchObject({
      doc_updated_at: '2026-01-31T09:30:00.000Z',
      doc_created_at: '2026-01-31T00:00:00.000Z',
    })
  })

  it('takes owners of whom little is known', () => {
    expect(read({ primary_owners: [{}, { email: 'a@b.example' }] }).document.primary_owners).toMatchObject([
      { display_name: null, email: null },
      { display_name: null, email: 'a@b.example' },
    ])
  })
})

describe('a section', () => {
  const kinds = (...sections: object[]): unknown[] =>
    read({ sections }).document.sections.map((section) => section.type)

  it('is what its fields say when it names no kind', () => {
    expect(
      kinds(
        { text: 'a' },
        { text: '' },
        { image_file_id: 'i' },
        { text: null, image_file_id: 'i' },
        { csv_file_id: 'c', link: 'l' },
        { type: null, text: 'a', link: null },
      ),
    ).toEqual(['text', 'text', 'image', 'image', 'tabular', 'text'])
  })

  it('with text and image is text that has an image', () => {
    expect(read({ sections: [{ text: 'a', image_file_id: 'i', link: 'l' }] }).document.sections).toEqual([
      { type: 'text', text: 'a', image_file_id: 'i', link: 'l', heading: null },
    ])
  })

  it('is the kind it names', () => {
    expect(kinds({ type: 'image', text: 'a', image_file_id: 'i' }, { type: 'text', text: 'a' })).toEqual([
      'image',
      'text',
    ])
  })
})

describe('metadata', () => {
  const metadata = (value: unknown): unknown => read({ metadata: value }).document.metadata

  it('keeps strings and lists of strings', () => {
    expect(metadata({ area: 'optics', tags: ['a', 'b'], none: [] })).toEqual({
      area: 'optics',
      tags: ['a', 'b'],
      none: [],
    })
  })

  it('turns everything else into its JSON text and drops nulls', () => {
    expect(
      metadata({ count: 3, open: true, gone: null, box: { a: [1] }, list: [1, 'x', null, false, { b: 2 }, [3]] }),
    ).toEqual({ count: '3', open: 'true', box: '{"a":[1]}', list: ['1', 'x', 'false', '{"b":2}', '[3]'] })
  })

  it('keeps keys that objects know too, and drops __proto__', () => {
    const given: unknown = JSON.parse('{"constructor": "c", "toString": "t", "__proto__": "p"}')
    const kept = metadata(given)
    expect(Object.entries(kept as object)).toEqual([
      ['constructor', 'c'],
      ['toString', 't'],
    ])
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype)
  })
})
