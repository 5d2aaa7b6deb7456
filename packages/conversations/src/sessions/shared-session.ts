import { replayPackets, toMainline, type MessageRole } from '@inlay/agent'
import type { Principal, SearchDoc } from '@inlay/protocol'
import type { Selectable } from 'kysely'
import type { SessionTable } from '../tables/chat-tables.ts'
import type { ConversationDatabase } from '../tables/database.ts'
import { toListing } from './listing.ts'
import { readMessages, toMessage } from './read-session.ts'
import type { StoredMessage, StoredSession } from './stored-session.ts'

/** Returns the ids of those documents that the caller may read. */
export type ReadableDocuments = (documentIds: readonly string[], caller: Principal) => Promise<ReadonlySet<string>>

/**
 * Reads a shared session as its readers see it: questions and answers of the selected branch, with the sources they may
 * read themselves. Other branches, reasoning, tool calls and their results, model parameters and feedback stay with the
 * owner, since each can hold text of documents that a reader may not see.
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
  const messages = rows.filter(({ id }) => mainline.has(id)).map((message) => toMessage(message, []))
  const documents = messages.flatMap((message) => message.documents ?? [])
  const seen = await readable([...new Set(documents.map(({ document_id: id }) => id))])
  const shown = messages.map((message) =>
    toShared(message, (document) => document.is_internet || seen.has(document.document_id)),
  )
  return {
    ...toListing(row),
    ownerId: row.owner_id,
    isDeleted: false,
    messages: shown,
    packets: shown
      .filter(({ role }) => role === 'assistant')
      .map(({ text, documents, citations }) =>
        replayPackets({
          text,
          reasoning: null,
          documents,
          citations: Object.entries(citations ?? {}).map(([number, documentId]) => ({
            number: Number(number),
            documentId,
          })),
          wasCancelled: false,
          calls: [],
        }),
      ),
    currentRunId: null,
  }
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
