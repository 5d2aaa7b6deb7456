import * as v from 'valibot'
import { integer, model, orNull, text, uuidOrBlank, type WireSchema } from '../fields.ts'
import { shortList } from '../chat/filters.ts'
import { sourceSchema, type SourceValue } from '../sources.ts'

/** A JSON-RPC 2.0 message before its method is known. */
export interface McpMessage {
  /** Version of JSON-RPC. */
  readonly jsonrpc: '2.0'
  /** Absent in notifications. */
  readonly id?: string | number
  /** Absent in responses. */
  readonly method?: string
  /** Arguments of the method. */
  readonly params?: Readonly<Record<string, unknown>>
}

export const mcpMessageSchema: WireSchema<McpMessage> = model('McpMessage', {
  jsonrpc: v.literal('2.0'),
  id: v.optional(v.union([v.string(), integer])),
  method: v.optional(v.string()),
  params: v.optional(v.record(v.string(), v.unknown())),
})

/** Arguments of the tool `search`. */
export interface McpSearchInput {
  /** Words that a relevant document would contain. */
  readonly query: string
  /** Only documents from these sources. */
  readonly sources: readonly SourceValue[] | null
  /** Only documents in the sets with these names. */
  readonly document_sets: readonly string[] | null
  /** 1 to 50. */
  readonly limit: number
}

const narrowed = {
  sources: v.pipe(orNull(shortList(sourceSchema)), v.description('Only documents from these sources')),
  document_sets: v.pipe(orNull(shortList(text)), v.description('Only documents of the sets with these names')),
}

export const mcpSearchInputSchema: WireSchema<McpSearchInput> = model('McpSearchInput', {
  query: v.pipe(text, v.minLength(1), v.maxLength(2048), v.description('Words that a relevant document would contain')),
  ...narrowed,
  limit: v.nullish(
    v.pipe(integer, v.minValue(1), v.maxValue(50), v.description('Maximum number of passages; default 10')),
    10,
  ),
})

/** Arguments of the tool `ask`. */
export interface McpAskInput {
  /** A self-contained question. */
  readonly question: string
  /** `session_id` of an earlier answer, to continue that conversation. */
  readonly session_id: string | null
  /** Only documents from these sources. */
  readonly sources: readonly SourceValue[] | null
  /** Only documents in the sets with these names. */
  readonly document_sets: readonly string[] | null
}

export const mcpAskInputSchema: WireSchema<McpAskInput> = model('McpAskInput', {
  question: v.pipe(text, v.minLength(1), v.maxLength(100_000), v.description('A self-contained question')),
  session_id: v.pipe(uuidOrBlank, v.description('`session_id` of an earlier answer, to continue that conversation')),
  ...narrowed,
})

/** Arguments of the tool `list_documents`. */
export interface McpListInput {
  /** Only documents from this source. */
  readonly source: SourceValue | null
  /** 1 to 1000. */
  readonly limit: number
  /** `next` of the previous page. */
  readonly after: string | null
}

export const mcpListInputSchema: WireSchema<McpListInput> = model('McpListInput', {
  source: v.pipe(orNull(sourceSchema), v.description('Only documents from this source')),
  limit: v.nullish(
    v.pipe(integer, v.minValue(1), v.maxValue(1000), v.description('Maximum number of documents; default 100')),
    100,
  ),
  after: v.pipe(orNull(text), v.description('`next` of the previous page')),
})
