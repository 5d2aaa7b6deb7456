import type { ComponentChildren } from 'preact'
import { AnswerView } from '../chat/answer-view.tsx'
import type { Conversation } from '../chat/conversation.ts'
import { withPlainCitations } from '../chat/copied-answer.ts'
import { Button } from '../controls/button.tsx'
import { usualColumn, type Turn } from '@inlay/client/conversation'
import { CopyButton } from '../controls/copy-button.tsx'
import { Icon } from '../controls/icons.tsx'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import '../styles/comparison.css'

interface ComparisonProps {
  readonly turn: Turn
  readonly columns: readonly Turn[]
  /** Null if the conversation is read-only. */
  readonly conversation: Pick<Conversation, 'isAnswering' | 'retry' | 'keep'> | null
  readonly above: ComponentChildren
  readonly service: Pick<Service, 'passage' | 'file'>
}

export function Comparison({ turn, columns, conversation, above, service }: ComparisonProps) {
  const words = texts.chat.comparison
  const isDone = turn.phase !== 'answering'
  const canKeep = columns.some((column) => column.fold.answer !== '')
  return (
    <div class="u-all-columns">
      {above}
      {/* On a narrow screen it scrolls sideways. */}
      <div class="comparison u-grid" role="group" aria-label={words.title} tabIndex={0}>
        {columns.map((column, at) => (
          <Column
            key={at}
            column={column}
            at={at}
            keep={conversation === null || !isDone ? undefined : () => conversation.keep(turn, column)}
            service={service}
          />
        ))}
      </div>
      {conversation !== null && isDone && (
        <p class="turn-note u-muted">{canKeep ? words.undecided(usualColumn(columns)?.modelName ?? '') : null}</p>
      )}
      {conversation !== null && isDone && !canKeep && (
        <Button onClick={() => conversation.retry(turn)}>
          <Icon name="retry" />
          {texts.frame.retry}
        </Button>
      )}
    </div>
  )
}

interface ColumnProps {
  readonly column: Turn
  readonly at: number
  /** Undefined while it cannot be kept. */
  readonly keep: (() => void) | undefined
  readonly service: Pick<Service, 'passage' | 'file'>
}

function Column({ column, at, keep, service }: ColumnProps) {
  const { answer } = column.fold
  const words = texts.chat.comparison
  const name = column.modelName ?? words.model(at + 1)
  const id = `turn-${column.id}-column-${at}`
  return (
    <section class="column u-min-0 u-card" aria-labelledby={id} aria-busy={column.phase === 'answering'}>
      <h3 class="u-muted u-bold u-small u-anywhere u-line-below" id={id}>
        {name}
      </h3>
      <AnswerView turn={column} idPrefix={id} name={name} service={service}>
        {answer !== '' && column.phase !== 'answering' && (
          <div class="column-actions u-row u-wrap u-gap-8">
            {keep !== undefined && (
              <Button label={words.keepThing(name)} onClick={keep}>
                <Icon name="check" />
                {words.keep}
              </Button>
            )}
            <CopyButton text={() => withPlainCitations(answer)} label={texts.chat.copyAnswer} />
          </div>
        )}
      </AnswerView>
    </section>
  )
}
