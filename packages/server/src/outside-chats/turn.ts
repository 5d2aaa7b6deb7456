import type { ActionTurn } from '@inlay/agent'
import type { SearchDoc } from '@inlay/protocol'

export type OutsideCall = Pick<ActionTurn, 'caller' | 'signal' | 'userMessage'> &
  Partial<Pick<ActionTurn, 'files'>> & { readonly requestId: string }

/** Creates a turn without a chat: packets are discarded, and documents are numbered from 1. */
export function turnOutsideChats({ requestId, ...call }: OutsideCall): ActionTurn {
  const numbers = new Map<string, number>()
  const cite = (documents: readonly SearchDoc[]): number[] =>
    documents.map(({ document_id: id }) => {
      const number = numbers.get(id) ?? numbers.size + 1
      numbers.set(id, number)
      return number
    })
  return { ...call, sessionId: '', messageId: 0, toolCallId: requestId, emit: () => {}, cite }
}
