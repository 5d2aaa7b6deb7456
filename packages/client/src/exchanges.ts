import type { ChatMessageDetail, ChatSessionDetail, Packet } from '@inlay/protocol'

/** A stored question and its answer, on the active branch of a session. */
export interface Exchange {
  readonly question: ChatMessageDetail
  /** Absent if the question was not answered. */
  readonly answer?: ChatMessageDetail
  /** Packets that replay the answer. */
  readonly packets: readonly Packet[]
  /** Whether the answer is still running: resume it instead of showing the stored text. */
  readonly isRunning: boolean
}

/** The exchanges of a session from `sessions.get`, oldest first, without other branches. */
export function exchangesOf(session: ChatSessionDetail): Exchange[] {
  const answers = session.messages.filter(({ message_type: type }) => type === 'assistant')
  const packets = new Map(answers.map(({ message_id: id }, at) => [id, session.packets[at] ?? []]))
  const line = mainlineOf(session.messages)
  const runId = session.current_run?.run_id
  return line.flatMap((question, at): Exchange[] => {
    if (question.message_type !== 'user') return []
    const next = line[at + 1]
    const answer = next?.message_type === 'assistant' ? next : undefined
    const isRunning = answer !== undefined && (runId === answer.message_id || runId === question.message_id)
    return [{ question, answer, packets: packets.get(answer?.message_id ?? 0) ?? [], isRunning }]
  })
}

/** Follows the active child of each message from the root. */
function mainlineOf(messages: readonly ChatMessageDetail[]): readonly ChatMessageDetail[] {
  const byId = new Map(messages.map((message) => [message.message_id, message]))
  const line: ChatMessageDetail[] = []
  let next = messages.find(({ parent_message: parent }) => parent === null)
  while (next !== undefined && line.length < messages.length) {
    line.push(next)
    next = byId.get(next.latest_child_message ?? 0)
  }
  return line
}
