import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import {
  documentListingQuerySchema,
  ingestionRequestSchema,
  InlayError,
  isInlayError,
  parseWith,
  sendMessageRequestSchema,
  suggestionFor,
  type ValidationIssue,
} from '@inlay/protocol'
import { closedModel } from '@inlay/protocol/internal/fields'

function issuesOf(run: () => unknown): readonly ValidationIssue[] {
  try {
    run()
  } catch (error) {
    if (!isInlayError(error)) throw error
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', status: 422 })
    return error.data.issues as ValidationIssue[]
  }
  throw new InlayError('INTERNAL_ERROR', { message: 'nothing was refused' })
}

/** `place: type` of every fault of a body. */
const faults = (schema: v.GenericSchema, value: unknown): string[] =>
  issuesOf(() => parseWith(schema, value, 'body')).map((issue) => `${issue.loc.join('.')}: ${issue.type}`)

const chat = (fields: object): string[] => faults(sendMessageRequestSchema, { message: 'Hello', ...fields })
const minimal = { semantic_identifier: 't', sections: [{ text: 'x' }], metadata: {} }
const ingestion = (fields: object): string[] => faults(ingestionRequestSchema, { document: { ...minimal, ...fields } })

describe('a chat message with a wrong field', () => {
  it.each([
    [{ message: undefined }, 'body.message: missing'],
    [{ message: null }, 'body.message: string_type'],
    [{ message: 7 }, 'body.message: string_type'],
    [{ message: ['a'] }, 'body.message: string_type'],
    [{ llm_override: 'large' }, 'body.llm_override: model_attributes_type'],
    [{ llm_override: [] }, 'body.llm_override: model_attributes_type'],
    [{ llm_override: { temperature: 'warm' } }, 'body.llm_override.temperature: float_parsing'],
    [{ llm_override: { temperature: Infinity } }, 'body.llm_override.temperature: finite_number'],
    [{ llm_override: { model_version: 5 } }, 'body.llm_override.model_version: string_type'],
    [{ llm_override: { model_provider: {} } }, 'body.llm_override.model_provider: string_type'],
    [{ llm_override: { model_configuration_id: 'one' } }, 'body.llm_override.model_configuration_id: int_parsing'],
    [{ llm_overrides: {} }, 'body.llm_overrides: list_type'],
    [{ llm_overrides: [{}, 3] }, 'body.llm_overrides.1: model_attributes_type'],
    [{ allowed_tool_ids: 3 }, 'body.allowed_tool_ids: list_type'],
    [{ allowed_tool_ids: '3' }, 'body.allowed_tool_ids: list_type'],
    [{ allowed_tool_ids: [1, 'two'] }, 'body.allowed_tool_ids.1: int_parsing'],
    [{ allowed_tool_ids: [null] }, 'body.allowed_tool_ids.0: int_type'],
    [{ forced_tool_id: 'three' }, 'body.forced_tool_id: int_parsing'],
    [{ forced_tool_id: [3] }, 'body.forced_tool_id: int_type'],
    [{ forced_tool_id: 1.5 }, 'body.forced_tool_id: int_from_float'],
    [{ forced_tool_id: 1e300 }, 'body.forced_tool_id: int_parsing_size'],
    [{ file_descriptors: {} }, 'body.file_descriptors: list_type'],
    [{ file_descriptors: [{}] }, 'body.file_descriptors.0.id: missing'],
    [{ file_descriptors: ['f'] }, 'body.file_descriptors.0: model_attributes_type'],
    [{ file_descriptors: [{ id: 'f', type: 'film' }] }, 'body.file_descriptors.0.type: enum'],
    [{ internal_search_filters: [] }, 'body.internal_search_filters: model_attributes_type'],
    [{ internal_search_filters: { source_type: 'web' } }, 'body.internal_search_filters.source_type: list_type'],
    [{ internal_search_filters: { source_type: ['wep'] } }, 'body.internal_search_filters.source_type.0: enum'],
    [{ internal_search_filters: { document_set: [1] } }, 'body.internal_search_filters.document_set.0: string_type'],
    [
      { internal_search_filters: { tags: [{ tag_key: 'a' }] } },
      'body.internal_search_filters.tags.0.tag_value: missing',
    ],
    [{ internal_search_filters: { time_cutoff: true } }, 'body.internal_search_filters.time_cutoff: datetime_type'],
    [{ internal_search_filters: { time_cutoff: 'May' } }, 'body.internal_search_filters.time_cutoff: datetime_parsing'],
    [
      { internal_search_filters: { updated_at_range: { start: '2026-13-01' } } },
      'body.internal_search_filters.updated_at_range.start: datetime_parsing',
    ],
    [{ deep_research: 'maybe' }, 'body.deep_research: bool_parsing'],
    [{ deep_research: 2 }, 'body.deep_research: bool_parsing'],
    [{ mcp_headers: ['a'] }, 'body.mcp_headers: dict_type'],
    [{ mcp_headers: { a: 1 } }, 'body.mcp_headers.a: string_type'],
    [{ origin: 'fax' }, 'body.origin: enum'],
    [{ origin: 3 }, 'body.origin: enum'],
    [{ parent_message_id: 'three' }, 'body.parent_message_id: int_parsing'],
    [{ chat_session_id: 'abc' }, 'body.chat_session_id: uuid_parsing'],
    [{ chat_session_id: 3 }, 'body.chat_session_id: uuid_type'],
    [{ chat_session_info: [] }, 'body.chat_session_info: model_attributes_type'],
    [{ chat_session_info: { persona_id: 'x' } }, 'body.chat_session_info.persona_id: int_parsing'],
    [{ chat_session_info: { description: 3 } }, 'body.chat_session_info.description: string_type'],
    [{ chat_session_info: { project_id: 'three' } }, 'body.chat_session_info.project_id: int_parsing'],
    [{ stream: 'never' }, 'body.stream: bool_parsing'],
    [{ include_citations: 0.5 }, 'body.include_citations: bool_type'],
    [{ additional_context: {} }, 'body.additional_context: string_type'],
    [{ include_usage: 'maybe' }, 'body.include_usage: bool_parsing'],
    [{ chat_session_id: '0d9f3a52-41f7-4f0c-8f49-5c1be6a3d7e0', chat_session_info: {} }, 'body: value_error'],
  ])('%j is refused as %s', (fields, fault) => {
    expect(chat(fields)).toEqual([fault])
  })

  it('tells every fault of one request', () => {
    expect(chat({ stream: 2, origin: 'fax', allowed_tool_ids: ['a', 2, 'b'] })).toEqual([
      'body.allowed_tool_ids.0: int_parsing',
      'body.allowed_tool_ids.2: int_parsing',
      'body.origin: enum',
      'body.stream: bool_parsing',
    ])
  })

  it.each([
    [undefined, 'missing'],
    [null, 'model_attributes_type'],
    [[], 'model_attributes_type'],
    ['x', 'model_attributes_type'],
  ])('whose body is %j is refused as %s', (body, type) => {
    expect(faults(sendMessageRequestSchema, body)).toEqual([`body: ${type}`])
  })
})

describe('a document with a wrong field', () => {
  it.each([
    [{ semantic_identifier: undefined }, 'semantic_identifier: missing'],
    [{ semantic_identifier: null }, 'semantic_identifier: string_type'],
    [{ sections: undefined }, 'sections: missing'],
    [{ sections: null }, 'sections: list_type'],
    [{ sections: {} }, 'sections: list_type'],
    [{ sections: 'text' }, 'sections: list_type'],
    [{ sections: ['text'] }, 'sections.0: model_attributes_type'],
    [{ sections: [[]] }, 'sections.0: model_attributes_type'],
    [{ sections: [{}] }, 'sections.0.text: missing'],
    [{ sections: [{ link: 'x' }] }, 'sections.0.text: missing'],
    [{ sections: [{ text: 'a' }, { text: 5 }] }, 'sections.1.text: string_type'],
    [{ sections: [{ text: 'a', link: 5 }] }, 'sections.0.link: string_type'],
    [{ sections: [{ text: 'a', heading: [] }] }, 'sections.0.heading: string_type'],
    [{ sections: [{ image_file_id: 5 }] }, 'sections.0.image_file_id: string_type'],
    [{ sections: [{ csv_file_id: 5, link: 'l' }] }, 'sections.0.csv_file_id: string_type'],
    [{ sections: [{ type: 'image' }] }, 'sections.0.image_file_id: missing'],
    [{ sections: [{ type: 'image', image_file_id: 5 }] }, 'sections.0.image_file_id: string_type'],
    [{ sections: [{ csv_file_id: 'f' }] }, 'sections.0.link: missing'],
    [{ sections: [{ type: 'film', text: 'a' }] }, 'sections.0.type: enum'],
    [{ sections: [{ type: 5, text: 'a' }] }, 'sections.0.type: enum'],
    [{ metadata: undefined }, 'metadata: missing'],
    [{ metadata: null }, 'metadata: dict_type'],
    [{ metadata: [] }, 'metadata: dict_type'],
    [{ metadata: 'a' }, 'metadata: dict_type'],
    [{ source: 'fax' }, 'source: enum'],
    [{ source: 5 }, 'source: enum'],
    [{ title: 5 }, 'title: string_type'],
    [{ id: 5 }, 'id: string_type'],
    [{ id: 'a\0b' }, 'id: value_error'],
    [{ id: 'a\uD800' }, 'id: value_error'],
    [{ id: '\uDC00\uD800' }, 'id: value_error'],
    [{ doc_updated_at: 'yesterday' }, 'doc_updated_at: datetime_parsing'],
    [{ doc_updated_at: true }, 'doc_updated_at: datetime_type'],
    [{ doc_created_at: '2026-02-30T00:00:00Z' }, 'doc_created_at: datetime_parsing'],
    [{ primary_owners: {} }, 'primary_owners: list_type'],
    [{ primary_owners: ['Ilse'] }, 'primary_owners.0: model_attributes_type'],
    [{ secondary_owners: [{ email: 5 }] }, 'secondary_owners.0.email: string_type'],
    [{ chunk_count: 'many' }, 'chunk_count: int_parsing'],
    [{ from_ingestion_api: 'maybe' }, 'from_ingestion_api: bool_parsing'],
    [{ file_id: 5 }, 'file_id: string_type'],
  ])('%j is refused as %s', (fields, fault) => {
    expect(ingestion(fields)).toEqual([`body.document.${fault}`])
  })

  it('beside the document is told where it stands', () => {
    expect(faults(ingestionRequestSchema, { document: minimal, cc_pair_id: 'one' })).toEqual([
      'body.cc_pair_id: int_parsing',
    ])
    expect(faults(ingestionRequestSchema, { document: [] })).toEqual(['body.document: model_attributes_type'])
    expect(faults(ingestionRequestSchema, {})).toEqual(['body.document: missing'])
  })
})

describe('a query with a wrong parameter', () => {
  const query = (value: unknown): unknown => issuesOf(() => parseWith(documentListingQuerySchema, value, 'query'))

  it.each([
    [{ limit: '0' }, 'limit', 'greater_than_equal'],
    [{ limit: '1001' }, 'limit', 'less_than_equal'],
    [{ limit: 'ten' }, 'limit', 'int_parsing'],
    [{ limit: '1.5' }, 'limit', 'int_parsing'],
    [{ cc_pair_id: '' }, 'cc_pair_id', 'int_parsing'],
    [{ state: 'lost' }, 'state', 'enum'],
    [{ source: 'fax' }, 'source', 'enum'],
  ])('%j is refused', (value, name, type) => {
    expect(query(value)).toEqual([expect.objectContaining({ loc: ['query', name], type })])
  })

  it('has its defaults when it is empty', () => {
    expect(parseWith(documentListingQuerySchema, {}, 'query')).toEqual({ limit: 100 })
    expect(parseWith(documentListingQuerySchema, { limit: '5', cc_pair_id: '2', state: 'failed' }, 'query')).toEqual({
      limit: 5,
      cc_pair_id: 2,
      state: 'failed',
    })
  })
})

describe('a refusal', () => {
  it('never repeats what was sent', () => {
    const secret = 'hunter2'
    const values = [
      { message: [secret], origin: secret, chat_session_id: secret, llm_override: { temperature: secret } },
      { message: 'm', internal_search_filters: { source_type: [secret], time_cutoff: secret } },
    ]
    for (const value of values)
      for (const issue of issuesOf(() => parseWith(sendMessageRequestSchema, value, 'body')))
        expect(JSON.stringify(issue)).not.toContain(secret)
  })

  it('says what is expected in words', () => {
    const [issue] = issuesOf(() => parseWith(sendMessageRequestSchema, { message: 'a', origin: 'fax' }, 'body'))
    expect(issue?.msg).toContain('webapp, chrome_extension, api')
    const [missing] = issuesOf(() => parseWith(sendMessageRequestSchema, {}, 'body'))
    expect(missing?.msg).toBe('is required')
  })

  it('of a huge list stays short', () => {
    const ids = Array.from({ length: 10_000 }, () => 'x')
    expect(chat({ allowed_tool_ids: ids })).toHaveLength(100)
  })

  it('of a union tells of the option that came closest', () => {
    const shape = v.union([v.object({ kind: v.literal('a'), deep: v.object({ size: v.number() }) }), v.string()])
    expect(faults(v.object({ shape }), { shape: { kind: 'a', deep: { size: 'x' } } })).toEqual([
      'body.shape.deep.size: float_type',
    ])
    expect(faults(v.object({ shape }), { shape: 7 })).toEqual(['body.shape: value_error'])
  })
})

describe('an unknown name', () => {
  const closed = closedModel('Closed', { requests_per_minute: v.optional(v.number()) })
  const issuesFor = (body: object): readonly ValidationIssue[] => issuesOf(() => parseWith(closed, body, 'body'))

  it('is told with the nearest one, unless it is too long for a slip', () => {
    expect(suggestionFor('requets_per_minute', ['callers', 'requests_per_minute'])).toBe('requests_per_minute')
    expect(suggestionFor('reuqests', ['callers', 'requests'])).toBe('requests')
    expect(suggestionFor('a'.repeat(65), ['a'.repeat(64)])).toBeUndefined()
    expect(suggestionFor('a'.repeat(63), ['a'.repeat(64)])).toBe('a'.repeat(64))
  })

  it('is not repeated at its length', () => {
    const [issue] = issuesFor({ ['x'.repeat(900_000)]: 1 })
    expect(issue).toEqual({
      loc: ['body', `${'x'.repeat(99)}…`],
      msg: 'is not known here: use requests_per_minute',
      type: 'extra_forbidden',
    })
  })

  it('is one of a hundred that are looked at', () => {
    let looks = 0
    const body = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`x${at}`, at]))
    const counted = new Proxy(body, { ownKeys: (target) => (looks++, Reflect.ownKeys(target)) })
    expect(issuesFor(counted)).toHaveLength(100)
    // Each look at an unknown name copies the body.
    expect(looks).toBeLessThan(110)
  })
})
