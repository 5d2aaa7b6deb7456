import { Icon } from '../controls/icons.tsx'
import { lazily } from '../markdown/lazily.ts'
import type { ListedModel, Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { ApprovalCard } from './approval-card.tsx'
import { AnswerActions } from './answer-actions.tsx'
import { AnswerView } from './answer-view.tsx'
import type { Conversation } from './conversation.ts'
import { QuestionView } from './question-view.tsx'
import { waitingCallsOf, type Turn } from '@inlay/client/conversation'

export type SteadyConversation = Pick<
  Conversation,
  'isAnswering' | 'ask' | 'retry' | 'edit' | 'choose' | 'rate' | 'keep'
>

interface TurnViewProps {
  readonly turn: Turn
  readonly isLast: boolean
  /** Null if the conversation is read-only. */
  readonly conversation: SteadyConversation | null
  readonly models: readonly ListedModel[]
  readonly goOn: () => void
  readonly service: Pick<Service, 'passage' | 'file'>
}

const useComparison = lazily(async () => (await import('../comparison/comparison.tsx')).Comparison)

export function TurnView({ turn, isLast, conversation, models, goOn, service }: TurnViewProps) {
  const isAnswering = turn.phase === 'answering'
  const idPrefix = `turn-${turn.id}`
  const Comparison = useComparison(turn.columns !== null)
  const requests = waitingCallsOf(turn, isLast)
  const files = turn.files.length > 0 && <SentFiles files={turn.files} />
  return (
    <article class="turn" aria-labelledby={`${idPrefix}-question`} aria-busy={isAnswering}>
      <QuestionView turn={turn} id={`${idPrefix}-question`} conversation={conversation} />
      {turn.columns !== null && Comparison !== undefined ? (
        <Comparison turn={turn} columns={turn.columns} conversation={conversation} above={files} service={service} />
      ) : (
        <AnswerView turn={turn} idPrefix={idPrefix} service={service} above={files}>
          {conversation !== null && requests.length > 0 && (
            <ApprovalCard turn={turn} requests={requests} ask={conversation.ask} />
          )}
          {!isAnswering && turn.columns === null && (
            <AnswerActions turn={turn} isLast={isLast} conversation={conversation} models={models} goOn={goOn} />
          )}
        </AnswerView>
      )}
    </article>
  )
}

function SentFiles({ files }: Pick<Turn, 'files'>) {
  return (
    <ul class="u-above-8 u-flex u-wrap u-gap-6" aria-label={texts.chat.filesOfQuestion}>
      {files.map(({ id, name }) => (
        <li key={id} class="file-chip">
          <Icon name="file" />
          <span>{name}</span>
        </li>
      ))}
    </ul>
  )
}
