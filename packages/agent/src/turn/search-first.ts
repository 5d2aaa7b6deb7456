/** Searches with the question before the model is asked: step 0 for models that do not search by themselves. */
import { InlayError } from '@inlay/protocol'
import { smallTalkOf } from '@inlay/text'
import type { Action } from '../contracts/action.ts'
import type { OpenedTurn } from '../contracts/conversation-store.ts'
import type { ResolvedModel } from '../contracts/model.ts'
import type { SmallModels } from '../contracts/small-models.ts'
import type { RequestedCall } from '../prompt/model-steps.ts'
import type { OpenTurn } from './turn-parts.ts'

export interface FirstSearch {
  readonly action: Action
  readonly call: RequestedCall
}

/** Whether a model calls no tools by itself: as it is recorded, unless an option says how it gets documents. */
export const isSmall = ({ grounding = 'auto', callsTools = true, observed }: ResolvedModel): boolean =>
  grounding !== 'tools' && (!callsTools || observed?.refusesTools === true)

/** Loads the help for a model that needs it. @throws NOT_IMPLEMENTED where the host has left it out */
export async function loadHelp(
  { displayName }: ResolvedModel,
  load: (() => Promise<SmallModels>) | undefined,
): Promise<SmallModels> {
  if (load) return load()
  throw new InlayError('NOT_IMPLEMENTED', {
    message: `The model ${displayName} calls no tools by itself, or its citations are compared. Install @inlay/small-models, which does that, or set grounding to "tools" and comparesCitations to false.`,
  })
}

/** The search to make for the model; undefined when it searches by itself, or there is nothing to search for. */
export function firstSearch(model: ResolvedModel, { opened, usable }: OpenTurn): FirstSearch | undefined {
  const { actions, forced } = usable
  const action = (forced.length > 0 ? forced : actions).find(({ builtIn }) => builtIn === 'SearchTool')
  const isWanted = model.grounding === 'search-first' || isSmall(model)
  if (!action || !isWanted || opened.userText.trim() === '') return undefined
  if (forced.length === 0 && isSmallTalk(opened)) return undefined
  // Nine letters and digits, which every provider takes, and another one in each turn of a conversation.
  const turn = (opened.messages.at(-1)?.id ?? 0) % 36 ** 4
  const id = `first${turn.toString(36).padStart(4, '0')}`
  return { action, call: { id, name: action.name, input: JSON.stringify({ queries: [opened.userText] }) } }
}

/** Asks nothing of documents. "OK" does when it may reply to a question, and "help" behind any answer. */
export function isSmallTalk({ userText, files, messages }: OpenedTurn): boolean {
  const kind = files.length > 0 ? undefined : smallTalkOf(userText)
  const last = messages.at(-1)?.text
  if (kind === undefined || last === undefined) return kind !== undefined
  const mayReply = kind === 'acknowledgement' || kind === 'empty'
  return kind !== 'help' && !(mayReply && /[?？؟]/.test(last))
}

const searchKinds = new Set(['SearchTool', 'WebSearchTool', 'OpenURLTool', 'MemoryTool'])

/** Actions that a small model may call in addition to given results. */
export const besideResults = (actions: readonly Action[]): readonly Action[] =>
  actions.filter(({ builtIn }) => !searchKinds.has(builtIn ?? ''))
