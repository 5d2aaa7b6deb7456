import { must } from '../contract.ts'
import type { ResponderPart } from '@inlay/agent'

/** The text of an answer, without that of sub-agents. */
export function textOf(parts: readonly ResponderPart[]): string {
  return parts.map((part) => (part.type === 'text' && part.parentId === undefined ? part.delta : '')).join('')
}

const isName = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''
const isCount = (value: unknown): boolean => value === null || (Number.isSafeInteger(value) && Number(value) >= 0)

/**
 * Fails unless the parts follow the contract: calls have unique ids, each call ends once, and parts of a sub-agent
 * arrive while it is running.
 */
export function mustBeParts(parts: readonly ResponderPart[], ownNames: readonly string[]): void {
  const open = new Map<string, { readonly isAgent: boolean; readonly parentId: string | undefined }>()
  const isOwn = new Set<string>()
  for (const part of parts) {
    if ('parentId' in part && part.parentId !== undefined)
      must(open.get(part.parentId)?.isAgent === true, `${part.type}: its sub-agent is at work`)
    switch (part.type) {
      case 'step':
        break
      case 'text':
      case 'reasoning':
        must(typeof part.delta === 'string', `${part.type}: the delta is text`)
        break
      case 'call':
        must(isName(part.callId) && isName(part.name), 'a call has an id and a name')
        must(part.task === undefined || isName(part.task), 'the task of a sub-agent is text')
        if (ownNames.includes(part.name)) isOwn.add(part.callId)
        else {
          must(!open.has(part.callId), 'no two calls that run have the same id')
          open.set(part.callId, { isAgent: part.task !== undefined, parentId: part.parentId })
        }
        break
      case 'result':
      case 'failure':
        if (isOwn.has(part.callId)) break
        must(open.has(part.callId), `a ${part.type} belongs to a call that runs`)
        must(open.get(part.callId)?.parentId === part.parentId, `a ${part.type} has the sub-agent of its call`)
        must(typeof (part.type === 'result' ? part.text : part.message) === 'string', `a ${part.type} has text`)
        open.delete(part.callId)
        break
      case 'usage': {
        const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens } = part
        const counts = [inputTokens, outputTokens, reasoningTokens, cachedInputTokens]
        must(counts.every(isCount), 'tokens are whole numbers or null')
        break
      }
      default:
        must(false, `no part has the type ${JSON.stringify((part as { type: unknown }).type)}`)
    }
  }
  must(open.size === 0, 'each call ends before the answer does')
}
