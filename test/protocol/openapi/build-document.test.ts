import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import {
  batchLineSchema,
  chatFullResponseSchema,
  chatSessionDetailSchema,
  customToolSchema,
  documentListingQuerySchema,
  documentOrders,
  fold,
  ingestionRequestSchema,
  ingestionResponseSchema,
  packetTable,
  packetTypes,
  sendMessageRequestSchema,
  streamLineSchema,
} from '@inlay/protocol'
import { type OpenApiDocument, type RouteSpec, toOpenApi } from '@inlay/protocol/openapi'
import { hasShape, type JsonSchema } from '../fixtures/json-schema.ts'
import { streams } from '../fixtures/streams.ts'
import { packetSchemaName } from '@inlay/protocol/internal/packets/packet-entry'
import descriptions from '../../../packages/protocol/scripts/descriptions.ts'

const health = v.object({ status: v.literal('ok') })

const routes: RouteSpec[] = [
  {
    method: 'POST',
    path: '/service-api/ingestion',
    operationId: 'ingest',
    summary: 'Hand in a document',
    tags: ['Documents'],
    scopes: ['ingest', 'admin'],
    owner: 'pair',
    body: ingestionRequestSchema,
    responses: {
      200: { description: 'It was taken.', schema: ingestionResponseSchema, headers: { etag: 'Its name.' } },
    },
  },
  {
    method: 'POST',
    path: '/service-api/ingestion/batch',
    operationId: 'ingestBatch',
    summary: 'Hand in many documents',
    tags: ['Documents'],
    scopes: ['ingest'],
    owner: 'pair',
    body: ingestionRequestSchema,
    bodyType: 'application/x-ndjson',
    responses: { 200: { description: 'A line each.', lines: batchLineSchema } },
  },
  {
    method: 'GET',
    path: '/chat/file/{file_id}',
    operationId: 'fetchFile',
    summary: 'Read a file',
    tags: ['Files'],
    scopes: ['chat'],
    owner: 'caller',
    params: v.object({ file_id: v.string() }),
    responses: {
      200: { description: 'Its bytes.', file: 'application/octet-stream' },
      304: { description: 'As before.' },
    },
  },
  {
    method: 'POST',
    path: '/chat/send-chat-message',
    operationId: 'sendChatMessage',
    summary: 'Send a message',
    tags: ['Chat'],
    scopes: ['chat'],
    owner: 'caller',
    body: sendMessageRequestSchema,
    headers: { 'idempotency-key': 'Repeats are answered once.' },
    responses: {
      200: {
        description: 'The answer.',
        schema: chatFullResponseSchema,
        alsoAs: { 'text/event-stream': streamLineSchema },
      },
      422: { description: 'Its own words.' },
    },
  },
  {
    method: 'GET',
    path: '/service-api/ingestion/{document_id}/parts/{part}',
    operationId: 'readPart',
    summary: 'Read a part',
    tags: ['Documents'],
    scopes: ['ingest'],
    owner: 'pair',
    query: documentListingQuerySchema,
    params: v.object({ part: v.pipe(v.string(), v.maxLength(3)) }),
    responses: { 200: { description: 'It.', schema: chatSessionDetailSchema } },
  },
  {
    method: 'POST',
    path: '/admin/tool/custom',
    operationId: 'createCustomTool',
    summary: 'Add an action',
    tags: ['Chat'],
    scopes: ['admin'],
    owner: 'any',
    body: customToolSchema,
    responses: { 200: { description: 'It.' } },
  },
  {
    method: 'GET',
    path: '/health',
    operationId: 'health',
    summary: 'Health',
    tags: ['Service'],
    scopes: [],
    owner: 'none',
    responses: { 200: { description: 'Up.', schema: health } },
  },
]

const described: OpenApiDocument = toOpenApi(routes, { title: 'Inlay', version: '1.2.3', serverUrl: '/api' })
const named = described.components.schemas as Readonly<Record<string, JsonSchema>>
interface Operation {
  readonly responses: Readonly<Record<string, unknown>>
  readonly parameters: readonly Readonly<Record<string, unknown>>[]
}

const operation = (path: string, method: string): Operation => described.paths[path]?.[method] as unknown as Operation

describe('the OpenAPI document', () => {
  it('refers to nothing that is not there', () => {
    const references = [...JSON.stringify(described).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)]
    expect(references.length).toBeGreaterThan(50)
    expect(references.map((match) => match[1]).filter((name) => !(name! in named))).toEqual([])
    expect(JSON.stringify(described)).not.toContain('$defs')
  })

  it.each(packetTypes)('has %s with its sentence and an example of its shape', (type) => {
    const shape = Object.values(named).find((each) => each.properties?.type?.const === type)
    const { description } = descriptions[packetSchemaName(type)]!
    expect(shape).toMatchObject({ description, examples: [packetTable[type].example] })
    expect(hasShape(packetTable[type].example, shape!, named)).toBe(true)
    expect(hasShape(packetTable[type].example, { $ref: '#/components/schemas/PacketBody' }, named)).toBe(true)
  })

  it.each(Object.entries(streams))('describes every line of %s and its whole answer', (_name, lines) => {
    for (const line of lines) expect(hasShape(line, named.StreamLine!, named)).toBe(true)
    expect(hasShape(fold(lines as never), named.ChatFullResponse!, named)).toBe(true)
  })

  it('asks of a message what the schema asks', () => {
    const request = named.SendMessageRequest!
    expect(request.required).toEqual(['message'])
    expect(JSON.stringify(request)).not.toContain('"default":null')
    for (const body of [
      { message: 'a' },
      { message: 'a', origin: null, internal_search_filters: { time_cutoff: '2026-01-01T00:00:00Z' } },
    ])
      expect(hasShape(body, request, named)).toBe(true)
    for (const body of [
      {},
      { message: 1 },
      { message: 'a', origin: 'fax' },
      { message: 'a', stream: 'no' },
      { message: 'a', internal_search_filters: { source_type: ['x'] } },
    ])
      expect(hasShape(body, request, named)).toBe(false)
  })

  it('asks of a document what the schema asks', () => {
    const document = { semantic_identifier: 't', sections: [{ text: 'a' }], metadata: { a: 1 } }
    const request = named.IngestionRequest!
    expect(named.IngestionDocument?.required).toEqual(['semantic_identifier', 'sections', 'metadata'])
    for (const fields of [{}, { doc_updated_at: '2026-01-01T00:00:00Z' }, { sections: [{ image_file_id: 'i' }] }])
      expect(hasShape({ document: { ...document, ...fields } }, request, named)).toBe(true)
    for (const fields of [
      { metadata: [] },
      { sections: [{}] },
      { sections: [{ csv_file_id: 'c' }] },
      { source: 'fax' },
    ])
      expect(hasShape({ document: { ...document, ...fields } }, request, named)).toBe(false)
  })

  it('tells packets apart by their type', () => {
    expect(named.PacketBody).toMatchObject({
      discriminator: { propertyName: 'type', mapping: { message_delta: '#/components/schemas/MessageDeltaPacket' } },
    })
  })

  it('promises every field that is always sent', () => {
    expect(named.MessageStartPacket?.required).toEqual(['type', 'final_documents', 'pre_answer_processing_seconds'])
    expect(named.StopPacket?.required).toEqual(['type', 'stop_reason'])
    expect(named.SearchDoc?.required).toContain('is_internet')
  })

  it('shows one answer in each of its content types', () => {
    expect(operation('/chat/send-chat-message', 'post')).toMatchObject({
      operationId: 'sendChatMessage',
      tags: ['Chat'],
      requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/SendMessageRequest' } } } },
      responses: {
        200: {
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/ChatFullResponse' } },
            'text/event-stream': { schema: { $ref: '#/components/schemas/StreamLine' } },
          },
        },
      },
    })
  })

  it('adds the failures a route can have, and keeps those it names', () => {
    const { responses } = operation('/chat/send-chat-message', 'post')
    expect(Object.keys(responses)).toEqual(['200', '401', '403', '413', '415', '422', '429', 'default'])
    expect(responses[422]).toMatchObject({ description: 'Its own words.' })
    const open = operation('/health', 'get')
    expect(Object.keys(open.responses)).toEqual(['200', 'default'])
  })

  it('says which scope a route needs', () => {
    expect(operation('/chat/send-chat-message', 'post')).toMatchObject({ security: [{ key: ['chat'] }] })
    expect(operation('/health', 'get')).toMatchObject({ security: [] })
    expect(described.components.securitySchemes).toMatchObject({ key: { type: 'http', scheme: 'bearer' } })
  })

  it('lists parameters of path, query and headers', () => {
    const { parameters } = operation('/service-api/ingestion/{document_id}/parts/{part}', 'get')
    expect(parameters.map((each) => [each.in, each.name, each.required, each.schema])).toEqual([
      ['path', 'document_id', true, { type: 'string' }],
      ['path', 'part', true, { type: 'string', maxLength: 3 }],
      ['query', 'state', false, { type: 'string', enum: ['pending', 'indexing', 'indexed', 'failed'] }],
      ['query', 'cc_pair_id', false, { type: 'integer', minimum: -2147483648, maximum: 2147483647 }],
      ['query', 'source', false, { $ref: '#/components/schemas/Source' }],
      ['query', 'document_id', false, { type: 'string' }],
      ['query', 'limit', false, { type: 'integer', minimum: 1, maximum: 1000, default: 100 }],
      ['query', 'after', false, { type: 'string' }],
      ['query', 'order', false, { type: 'string', enum: [...documentOrders] }],
      ['query', 'match', false, { type: 'string' }],
      ['query', 'document_set', false, { type: 'integer', minimum: 1, maximum: 2147483647 }],
      ['query', 'tag', false, { type: 'string' }],
      ['query', 'details', false, { type: 'boolean' }],
    ])
    expect(operation('/chat/send-chat-message', 'post')).toMatchObject({
      parameters: [
        { in: 'header', name: 'idempotency-key', required: false, description: 'Repeats are answered once.' },
      ],
    })
  })

  it('keeps the bounds that the server enforces behind a transformation', () => {
    const request = named.CustomTool!
    expect(request.properties?.name).toMatchObject({ type: 'string', minLength: 1, maxLength: 255 })
    expect(named.BaseFilters?.properties?.source_type).toMatchObject({ anyOf: [{ maxItems: 1000 }, { type: 'null' }] })
  })

  it('names every scope that opens a route', () => {
    expect(operation('/service-api/ingestion', 'post')).toMatchObject({
      security: [{ key: ['ingest'] }, { key: ['admin'] }],
    })
  })

  it('tells headers, lines and files in a way that generators read', () => {
    expect(operation('/service-api/ingestion', 'post').responses[200]).toMatchObject({
      headers: { etag: { description: 'Its name.', schema: { type: 'string' } }, 'x-request-id': {} },
    })
    const batch = operation('/service-api/ingestion/batch', 'post') as unknown as Record<string, unknown>
    expect(batch).toMatchObject({
      requestBody: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } },
      responses: {
        200: {
          content: {
            'application/x-ndjson': {
              schema: { type: 'string' },
              'x-item-schema': { $ref: '#/components/schemas/BatchLine' },
            },
          },
        },
      },
    })
    expect(operation('/chat/file/{file_id}', 'get').responses).toMatchObject({
      200: { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } },
      304: { description: 'As before.' },
    })
  })

  it('tells apart what is sent and what is received under one name', () => {
    expect(named.FileDescriptor?.required).toEqual(['id', 'type', 'name', 'user_file_id'])
    expect(named.FileDescriptorInput?.required).toEqual(['id'])
  })

  it('is OpenAPI 3.1 of the given name, version and address', () => {
    expect(described).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Inlay', version: '1.2.3' },
      servers: [{ url: '/api' }],
      tags: [{ name: 'Documents' }, { name: 'Files' }, { name: 'Chat' }, { name: 'Service' }],
    })
    expect(JSON.parse(JSON.stringify(described))).toEqual(described)
  })
})
