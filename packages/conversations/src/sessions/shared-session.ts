import { toMainline, type MessageRole } from '@inlay/agent'
import { mapInSlices } from '@inlay/scheduling'
import type { Packet, PacketBody, Principal, SearchDoc } from '@inlay/protocol'
import type { Selectable } from 'kysely'
import type { SessionTable } from '../tables/chat-tables.ts'
import type { ConversationDatabase } from '../tables/database.ts'
import { toListing } from './listing.ts'
import { readCalls, readMessages, toMessage, toPackets } from './read-session.ts'
import type { StoredMessage, StoredSession } from './stored-session.ts'

/** Returns the ids of those documents that the caller may read. */
export type ReadableDocuments = (documentIds: readonly string[], caller: Principal) => Promise<ReadonlySet<string>>

/**
 * Reads a shared session as its readers see it: questions and answers of the selected branch, with the sources they may
 * read themselves, the plan of a research, and that documents were searched. Other branches, reasoning, what was searched
 * for, other tool calls and their results, model parameters and feedback stay with the owner, since each can hold text
 * of documents that a reader may not see.
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
  const calls = await readCalls(db, [...mainline])
  const shownRows = rows.filter(({ id }) => mainline.has(id))
  const answers = shownRows.filter(({ role }) => role === 'assistant')
  const packets = await mapInSlices(answers, (message) => toPackets(message, calls.get(message.id) ?? []))
  // What is shown again from calls has no steps of research agents, and so not all that they read.
  const complete = new Set(packets.filter((_, index) => answers[index]!.lines !== null))
  const messages = await mapInSlices(shownRows, (message) => toMessage(message, []))
  const documents = [...messages.flatMap((message) => message.documents ?? []), ...packets.flat().flatMap(documentsOf)]
  const seen = await readable([...new Set(documents.map(({ document_id: id }) => id))])
  const isShown = (document: SearchDoc): boolean => document.is_internet || seen.has(document.document_id)
  return {
    ...toListing(row),
    ownerId: row.owner_id,
    isDeleted: false,
    messages: await mapInSlices(messages, (message) => toShared(message, isShown)),
    packets: await mapInSlices(packets, (each) => toSharedPackets(each, isShown, complete.has(each))),
    currentRunId: null,
  }
}

function documentsOf({ obj }: Packet): readonly SearchDoc[] {
  if (obj.type === 'search_tool_documents_delta' || obj.type === 'open_url_documents') return obj.documents
  if (obj.type === 'intermediate_report_cited_docs') return obj.cited_docs ?? []
  return obj.type === 'message_start' ? (obj.final_documents ?? []) : []
}

/**
 * The packets of an answer as its readers see them: its text without that of steps before calls, sources they may read,
 * the plan of a research, and that documents were searched. What a research agent was asked and reported is shown if it
 * had sources, they may read all sources of the answer, and it has no others, such as those of custom tools.
 * @param isComplete whether the packets are all that were streamed
 */
function toSharedPackets(
  packets: readonly Packet[],
  isShown: (document: SearchDoc) => boolean,
  isComplete: boolean,
): Packet[] {
  const documents = packets.flatMap(documentsOf)
  const shown = new Set(documents.filter(isShown).map(({ document_id: id }) => id))
  const isReadable = isComplete && documents.every(isShown) && !packets.some(({ obj }) => otherSources.test(obj.type))
  const withSources = new Set(packets.filter((packet) => documentsOf(packet).length > 0).map(callOf))
  const textFrom = packets.findLastIndex(({ obj }) => obj.type === 'message_start')
  const cited = packets.flatMap(({ obj }) => (obj.type === 'citation_info' ? [obj] : []))
  const hidden = new Set(cited.filter((each) => !shown.has(each.document_id)).map((each) => `${each.citation_number}`))
  const toSharedBody = (packet: Packet, index: number): PacketBody | undefined => {
    const { obj } = packet
    const isWhole = isReadable && withSources.has(callOf(packet))
    switch (obj.type) {
      case 'message_start':
        return index < textFrom ? undefined : { ...obj, final_documents: obj.final_documents?.filter(isShown) ?? null }
      case 'message_delta':
        return index < textFrom ? undefined : { ...obj, content: withoutLinks(obj.content, hidden) }
      case 'citation_info':
        return shown.has(obj.document_id) ? obj : undefined
      case 'search_tool_documents_delta':
        return obj.documents.some(isShown) ? { ...obj, documents: obj.documents.filter(isShown) } : undefined
      case 'research_agent_start':
        return isWhole ? obj : { ...obj, research_task: '' }
      case 'intermediate_report_start':
      case 'intermediate_report_delta':
      case 'intermediate_report_cited_docs':
        return isWhole ? obj : undefined
      case 'tool_approval_request':
        return { ...obj, tool_call_id: '', tool_name: '', display_name: '', server_name: null, arguments: {} }
      case 'stop':
        return { type: 'stop', stop_reason: obj.stop_reason }
      default:
        return sharedTypes.has(obj.type) ? obj : undefined
    }
  }
  /** Places where a reader sees a step, which ends. */
  const steps = new Set<string>()
  return packets.flatMap((packet, index): Packet[] => {
    const { turn_index: turn, tab_index: tab, sub_turn_index: sub } = packet.placement
    const place = `${turn}.${tab}.${sub}`
    if (packet.obj.type === 'section_end') return steps.delete(place) ? [packet] : []
    const obj = toSharedBody(packet, index)
    if (obj && startsStep.test(obj.type)) steps.add(place)
    return obj ? [{ ...packet, obj }] : []
  })
}

/** The call that a packet belongs to, with those of its sub-agent. */
const callOf = ({ placement: { turn_index: turn, tab_index: tab } }: Packet): string => `${turn}.${tab}`

const otherSources = /^(bash_tool|coding_agent|custom_tool|file_reader|image_generation|memory_tool|python_tool)/

const startsStep =
  /^(search_tool_start|tool_approval_request|research_agent_start|deep_research_plan_start|message_start)$/

const sharedTypes: ReadonlySet<string> = new Set([
  'search_tool_start',
  'deep_research_plan_start',
  'deep_research_plan_delta',
])

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
