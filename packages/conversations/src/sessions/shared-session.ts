import { replayPackets, toMainline, type MessageRole, type ToolCallRecord } from '@inlay/agent'
import { mapInSlices } from '@inlay/scheduling'
import type { PacketBody, Principal, SearchDoc } from '@inlay/protocol'
import type { Selectable } from 'kysely'
import type { SessionTable } from '../tables/chat-tables.ts'
import type { ConversationDatabase } from '../tables/database.ts'
import { toListing } from './listing.ts'
import { readCalls, readMessages, toMessage } from './read-session.ts'
import type { StoredMessage, StoredSession } from './stored-session.ts'

/** Returns the ids of those documents that the caller may read. */
export type ReadableDocuments = (documentIds: readonly string[], caller: Principal) => Promise<ReadonlySet<string>>

/**
 * Reads a shared session as its readers see it: questions and answers of the selected branch, with the sources they may
 * read themselves, and that documents were searched. Other branches, reasoning, what was searched for, other tool calls
 * and their results, model parameters and feedback stay with the owner, since each can hold text of documents that a
 * reader may not see.
 */
export async function readSharedSession(
  db: ConversationDatabase,
  row: Selectable<SessionTable>,
  readable: (documentIds: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<StoredSession> {
  const rows = (await readMessages(db, row.id)).toSorted((a, b) => a.id - b.id)
  const nodes = rows.map(({ id, parent_id: parentId, latest_child_id: latestChildId, role }) => {
    return { id, parentId, latestChildId, role: role as MessageRole }
  })
  const mainline = new Set(toMainline(nodes))
  const selected = rows.filter(({ id }) => mainline.has(id))
  const messages = await mapInSlices(selected, (message) => toMessage(message, []))
  const calls = await readCalls(db, [...mainline])
  const searches = new Map(messages.map(({ id }) => [id, (calls.get(id) ?? []).filter(isSearch)]))
  const documents = messages.flatMap(({ id, documents: own }) => [
    ...(own ?? []),
    ...searches.get(id)!.flatMap((call) => call.packets.flatMap(documentsOf)),
  ])
  const seen = await readable([...new Set(documents.map(({ document_id: id }) => id))])
  const isShown = (document: SearchDoc): boolean => document.is_internet || seen.has(document.document_id)
  const shown = await mapInSlices(messages, (message) => toShared(message, isShown))
  const answers = shown.filter(({ role }) => role === 'assistant')
  return {
    ...toListing(row),
    ownerId: row.owner_id,
    isDeleted: false,
    messages: shown,
    packets: await mapInSlices(answers, ({ id, text, documents, citations }) =>
      replayPackets({
        text,
        reasoning: null,
        documents,
        citations: Object.entries(citations ?? {}).map(([number, documentId]) => ({
          number: Number(number),
          documentId,
        })),
        wasCancelled: false,
        calls: searches.get(id)!.map((call) => sharedSearch(call, isShown)),
      }),
    ),
    currentRunId: null,
  }
}

const isSearch = ({ parentCallId, packets }: ToolCallRecord): boolean =>
  parentCallId === undefined && packets.some(({ type }) => type === 'search_tool_start')

const documentsOf = (packet: PacketBody): readonly SearchDoc[] =>
  packet.type === 'search_tool_documents_delta' ? packet.documents : []

/** A search without its queries, and with the documents that a reader may see. */
function sharedSearch(call: ToolCallRecord, isShown: (document: SearchDoc) => boolean): ToolCallRecord {
  const packets = call.packets.flatMap((packet): PacketBody[] => {
    if (packet.type === 'search_tool_start') return [packet]
    const documents = documentsOf(packet).filter(isShown)
    return documents.length === 0 ? [] : [{ type: 'search_tool_documents_delta', documents }]
  })
  return { ...call, arguments: {}, reasoning: null, packets }
}

function toShared(message: StoredMessage, isShown: (document: SearchDoc) => boolean): StoredMessage {
  const documents = message.documents?.filter(isShown) ?? null
  const shown = new Set(documents?.map(({ document_id: id }) => id))
  const cited = Object.entries(message.citations ?? {})
  const citations = cited.filter(([, documentId]) => shown.has(documentId))
  const hidden = new Set(cited.filter(([, documentId]) => !shown.has(documentId)).map(([number]) => number))
  return {
    ...message,
    text: withoutLinks(message.text, hidden),
    documents,
    citations: citations.length === 0 ? null : Object.fromEntries(citations),
    reasoning: null,
    feedback: null,
    requestParams: null,
    failedCalls: [],
  }
}

/** Takes the addresses out of citation links `[[n]](address)` with these numbers. */
function withoutLinks(text: string, numbers: ReadonlySet<string>): string {
  let result = ''
  let copied = 0
  for (const { 0: opening, 1: number = '', index } of text.matchAll(/\[\[(\d+)\]\]\(/g)) {
    const start = index + opening.length
    if (!numbers.has(number) || start < copied) continue
    let end = start
    for (let depth = 1; end < text.length && !/\s/.test(text[end]!); end++) {
      if (text[end] === '(') depth++
      else if (text[end] === ')' && --depth === 0) break
    }
    result += text.slice(copied, start)
    copied = end
  }
  return result + text.slice(copied)
}
