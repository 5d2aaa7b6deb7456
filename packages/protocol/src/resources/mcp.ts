import * as v from 'valibot'
import { integer, model, orNull, text, uuidOrBlank, type Wire } from '../fields.ts'
import { shortList } from '../chat/filters.ts'
import { sourceSchema } from '../sources.ts'

export const mcpMessageSchema = model('McpMessage', {
  /** Version of JSON-RPC. */
  jsonrpc: v.literal('2.0'),
  /** Absent in notifications. */
  id: v.optional(v.union([v.string(), integer])),
  /** Absent in responses. */
  method: v.optional(v.string()),
  /** Arguments of the method. */
  params: v.optional(v.record(v.string(), v.unknown())),
})

/** A JSON-RPC 2.0 message before its method is known. */
export type McpMessage = Wire<typeof mcpMessageSchema>

const mcpNarrowingSchema = model('McpNarrowing', {
  sources: v.pipe(orNull(shortList(sourceSchema)), v.description('Only documents from these sources')),
  document_sets: v.pipe(orNull(shortList(text)), v.description('Only documents of the sets with these names')),
})

/** Arguments of the tool `search`. */
export const mcpSearchInputSchema = model('McpSearchInput', {
  query: v.pipe(text, v.minLength(1), v.maxLength(2048), v.description('Words that a relevant document would contain')),
  ...mcpNarrowingSchema.entries,
  /** 1 to 50. */
  limit: v.nullish(
    v.pipe(integer, v.minValue(1), v.maxValue(50), v.description('Maximum number of passages; default 10')),
    10,
  ),
})

/** Arguments of the tool `ask`. */
export const mcpAskInputSchema = model('McpAskInput', {
  question: v.pipe(text, v.minLength(1), v.maxLength(100_000), v.description('A self-contained question')),
  session_id: v.pipe(uuidOrBlank, v.description('`session_id` of an earlier answer, to continue that conversation')),
  ...mcpNarrowingSchema.entries,
})

/** Arguments of the tool `list_documents`. */
export const mcpListInputSchema = model('McpListInput', {
  source: v.pipe(orNull(sourceSchema), v.description('Only documents from this source')),
  /** 1 to 1000. */
  limit: v.nullish(
    v.pipe(integer, v.minValue(1), v.maxValue(1000), v.description('Maximum number of documents; default 100')),
    100,
  ),
  after: v.pipe(orNull(text), v.description('`next` of the previous page')),
})
