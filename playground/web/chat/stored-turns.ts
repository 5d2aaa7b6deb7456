import type { ChatMessageDetail, ChatSessionDetail, Packet } from '@inlay/protocol'
import { failed, newTurn, withLines, type Turn } from './turn.ts'

/** The turns of a stored conversation, along the branch that is shown. */
export interface StoredTurns {
  readonly turns: readonly Turn[]
  /** Whether the last of them is still being answered. */
  readonly isRunning: boolean
}

/** Makes turns of what the service stored. @param firstId id of the first turn; the others count on */
export function storedTurns(session: ChatSessionDetail, firstId: number): StoredTurns {
  const packets = packetsByMessage(session)
  const turns: Turn[] = []
  let running: Turn | undefined
  for (const [question, answer] of exchangesOf(mainlineOf(session.messages))) {
    const files = question.files.map(({ id, name }) => ({ id, name: name ?? 'File' }))
    const pending = newTurn(firstId + turns.length, { question: question.message, files }, session.chat_session_id)
    const isRunning = answer !== undefined && isCurrent(session, question, answer)
    const turn = isRunning ? pending : answered(pending, question, answer, packets.get(answer?.message_id ?? 0) ?? [])
    if (isRunning) running = turn
    turns.push(turn)
  }
  return { turns, isRunning: running !== undefined && running === turns.at(-1) }
}

function isCurrent(session: ChatSessionDetail, question: ChatMessageDetail, answer: ChatMessageDetail): boolean {
  const id = session.current_run?.run_id
  return id === answer.message_id || id === question.message_id
}

function packetsByMessage({ messages, packets }: ChatSessionDetail): Map<number, readonly Packet[]> {
  const answers = messages.filter(({ message_type: type }) => type === 'assistant')
  return new Map(answers.map(({ message_id: id }, at) => [id, packets[at] ?? []]))
}

/** From the root along the newest children. */
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

type Exchange = readonly [question: ChatMessageDetail, answer: ChatMessageDetail | undefined]

function exchangesOf(line: readonly ChatMessageDetail[]): readonly Exchange[] {
  return line.flatMap((message, at): Exchange[] => {
    if (message.message_type !== 'user') return []
    const next = line[at + 1]
    return [[message, next?.message_type === 'assistant' ? next : undefined]]
  })
}

function answered(
  pending: Turn,
  question: ChatMessageDetail,
  answer: ChatMessageDetail | undefined,
  packets: readonly Packet[],
): Turn {
  const ids = { user_message_id: question.message_id, reserved_assistant_message_id: answer?.message_id ?? 0 }
  const turn = withLines(pending, [ids, ...packets])
  if (answer === undefined) return failed(turn, { message: 'This question was never answered.', retryable: true })
  return answer.error === null ? turn : failed(turn, { message: answer.error, retryable: true })
}
