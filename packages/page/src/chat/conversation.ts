import { exchangesOf } from '@inlay/client'
import {
  createConversation,
  hasMessage,
  type Conversation as Core,
  type ConversationState,
  type Question,
  type Turn,
} from '@inlay/client/conversation'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useListener } from '../controls/use-listener.ts'
import { toFailure } from '../service/failure.ts'
import type { AnswerSettings, AskHow, Service } from '../service/service.ts'
import { announceChange, onChangeElsewhere } from '../service/tabs.ts'
import { texts } from '../texts/texts.ts'

type Actions = Omit<Core<AskHow>, 'state' | 'ask' | 'retry' | 'edit' | 'open' | 'changedElsewhere'>

export interface Conversation extends ConversationState, Actions {
  ask(question: Question, how?: Omit<AskHow, 'settings'>): void
  /** @param turn default: the last one */
  retry(turn?: Turn, modelId?: number): void
  edit(turn: Turn, words: string): void
}

/**
 * @param wanted the session in the address; null for a new one
 * @param goal the message in the address, a new object for each navigation to it
 */
export function useConversation(
  service: Service,
  wanted: string | null,
  goal: { readonly messageId?: number },
  began: (sessionId: string) => void,
  settings: AnswerSettings,
): Conversation {
  const [, setState] = useState<ConversationState>()
  const onBegin = useRef(began)
  onBegin.current = began
  const core = useMemo(
    () =>
      createConversation<AskHow>({
        service,
        texts: texts.chat,
        toFailure,
        onChange: setState,
        onBegin: (sessionId, _question, isShown) => isShown && onBegin.current(sessionId),
        onSessionChange: (sessionId) => announceChange({ kind: 'chat', sessionId }),
      }),
    [service],
  )
  // Nothing may be asked again, or read on, for a service that was left.
  useEffect(() => () => core.leave(), [core])
  useEffect(() => core.open(wanted, goal.messageId), [core, wanted, goal])
  useEffect(
    () => onChangeElsewhere((change) => change.kind === 'chat' && core.changedElsewhere(change.sessionId)),
    [core],
  )
  useListener(document, 'visibilitychange', () => {
    if (document.visibilityState === 'visible') void readChanges(core, service)
  })
  const { state } = core
  return useMemo(
    () => ({
      ...core,
      ...state,
      ask: (question, how = { isResearch: false }) => core.ask(question, { ...how, settings }),
      retry: (turn = state.turns.at(-1), modelId: number | null = settings.modelId) => {
        if (turn !== undefined) core.retry(turn, { isResearch: false, settings: { ...settings, modelId } })
      },
      edit: (turn, words) => core.edit(turn, words, { isResearch: false, settings }),
    }),
    [core, state, settings],
  )
}

/** Shows what was asked in the conversation on another device, which announces nothing here. */
export async function readChanges(
  core: Pick<Core<AskHow>, 'state' | 'changedElsewhere'>,
  service: Pick<Service, 'chat'>,
): Promise<void> {
  const { sessionId, turns, isAnswering, isLoading, queue } = core.state
  // A question that waits behind a failed one would be sent.
  if (sessionId === null || isAnswering || isLoading || queue.length > 0) return
  // Nothing is said of a network that is not back yet: the person has asked for nothing.
  const session = await service.chat(sessionId).catch(() => undefined)
  if (session === undefined || core.state.turns !== turns) return
  // A question that never reached the service is known only here.
  if (turns.some(({ fold: { state } }) => state.userMessageId === null || state.messageId === null)) return
  const active = exchangesOf(session).flatMap(({ question, answer = question }) => [question, answer])
  const isNew = active.some(({ message_id: id }) => !turns.some((turn) => hasMessage(turn, id)))
  if (isNew) core.changedElsewhere(sessionId)
}
