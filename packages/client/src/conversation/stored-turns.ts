import { createFold, type ChatMessageDetail, type ChatSessionDetail, type Packet } from '@inlay/protocol'
import { exchangesOf } from '../exchanges.ts'
import { failed, newTurn, withColumns, withLines, type ConversationTexts, type Turn, type Versions } from './turn.ts'

/** The turns of a stored conversation, along the branch that is shown. */
export interface StoredTurns {
  readonly turns: readonly Turn[]
  /** Whether the last of them is still being answered. */
  readonly isRunning: boolean
}

/** Converts a stored conversation to turns. @param firstId id of the first turn; the following ones count up */
export function storedTurns(session: ChatSessionDetail, firstId: number, texts: ConversationTexts): StoredTurns {
  const turns: Turn[] = []
  const exchanges = exchangesOf(session)
  for (const { question, answer, packets, isRunning } of exchanges) {
    const files = question.files.map(({ id, name }) => ({ id, name: name ?? texts.file }))
    const pending = newTurn(firstId + turns.length, { question: question.message, files }, session.chat_session_id)
    const known = {
      ...pending,
      versions: versionsOf(session, question),
      feedback: answer?.current_feedback ?? null,
      modelName: answer?.model_display_name ?? null,
    }
    const columns = undecided(session, question).map((each) =>
      answered(
        { ...known, fold: createFold(), modelName: each.answer.model_display_name },
        question,
        each.answer,
        each.packets,
        texts,
      ),
    )
    const turn = isRunning
      ? known
      : columns.length > 1
        ? withColumns({ ...known, fold: columns[0]?.fold ?? known.fold }, columns)
        : answered(known, question, answer, packets, texts)
    turns.push(turn)
  }
  return { turns, isRunning: exchanges.at(-1)?.isRunning === true }
}

/**
 * The answers that several models gave to the last question, while none of them is kept; otherwise none. They were
 * stored at one time, unlike a second answer of one model.
 */
function undecided(
  { messages, packets }: ChatSessionDetail,
  question: ChatMessageDetail,
): readonly { readonly answer: ChatMessageDetail; readonly packets: readonly Packet[] }[] {
  const answers = messages
    .filter(({ message_type: type }) => type === 'assistant')
    .map((answer, at) => ({ answer, packets: packets[at] ?? [] }))
    .filter(({ answer }) => answer.parent_message === question.message_id)
  const isOpen = answers.every(
    ({ answer }) => answer.time_sent === answers[0]?.answer.time_sent && answer.latest_child_message === null,
  )
  return isOpen && question.preferred_response_id === null ? answers : []
}

/** Messages to select, from the first on, so that the branch that is shown holds a message; none when it does. */
export function branchTo({ messages }: Pick<ChatSessionDetail, 'messages'>, messageId: number): readonly number[] {
  const byId = new Map(messages.map((message) => [message.message_id, message]))
  const chosen: number[] = []
  let message = byId.get(messageId)
  while (message !== undefined && message.parent_message !== null) {
    const parent = byId.get(message.parent_message)
    if (parent !== undefined && parent.latest_child_message !== message.message_id) chosen.unshift(message.message_id)
    message = parent
  }
  return chosen
}

function answered(
  pending: Turn,
  question: ChatMessageDetail,
  answer: ChatMessageDetail | undefined,
  packets: readonly Packet[],
  { neverAnswered }: ConversationTexts,
): Turn {
  const ids = { user_message_id: question.message_id, reserved_assistant_message_id: answer?.message_id ?? 0 }
  const turn = withLines(pending, [ids, ...packets])
  if (answer !== undefined) turn.fold.addFailures(answer.failed_calls)
  if (answer === undefined) return failed(turn, { message: neverAnswered, retryable: true })
  return answer.error === null ? turn : failed(turn, { message: answer.error, retryable: true })
}

/** The messages that share the place of a question, and those that share the place of its answer. */
function versionsOf({ messages }: ChatSessionDetail, question: ChatMessageDetail): Versions {
  const idsBelow = (parent: number | null, type: ChatMessageDetail['message_type']): readonly number[] =>
    messages
      .filter((message) => message.parent_message === parent && message.message_type === type)
      .map(({ message_id: id }) => id)
      .sort((left, right) => left - right)
  return {
    questions: idsBelow(question.parent_message, 'user'),
    answers: idsBelow(question.message_id, 'assistant'),
  }
}
