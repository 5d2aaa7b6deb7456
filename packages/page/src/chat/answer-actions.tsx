import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '../controls/copy-button.tsx'
import { IconButton } from '../controls/icon-button.tsx'
import { Icon, type IconName } from '../controls/icons.tsx'
import { copyText } from '../controls/copy-text.ts'
import { Menu } from '../controls/menu.tsx'
import type { ListedModel } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { Arrows } from './arrows.tsx'
import type { Conversation } from './conversation.ts'
import { plainAnswer, wasCut, withPlainCitations } from './copied-answer.ts'
import { FeedbackForm } from './feedback-form.tsx'
import type { Feedback, Turn } from '@inlay/client/conversation'
import { Button } from '../controls/button.tsx'

interface AnswerActionsProps {
  readonly turn: Turn
  readonly isLast: boolean
  /** Null if the conversation is read-only. */
  readonly conversation: Pick<Conversation, 'isAnswering' | 'retry' | 'choose' | 'rate'> | null
  readonly models: readonly ListedModel[]
  /** Asks for the rest of an answer that was cut. */
  readonly goOn: () => void
}

export function AnswerActions({ turn, isLast, conversation, models, goOn }: AnswerActionsProps) {
  const { answer } = turn.fold
  const failed = turn.phase === 'stopped' || turn.failure?.retryable === true
  if (answer === '' && !(isLast && failed)) return null
  const copy = answer !== '' && <CopyButton text={() => withPlainCitations(answer)} label={texts.chat.copyAnswer} />
  if (conversation === null) return <div class="turn-actions u-row u-wrap u-gap-4">{copy}</div>
  const { isAnswering, retry, choose } = conversation
  const others = models.length > 1 ? models : []
  const { versions, modelName } = turn
  return (
    <div class="turn-actions u-row u-wrap u-gap-4">
      {copy}
      {isLast && failed && (
        <Button onClick={() => retry()}>
          <Icon name="retry" />
          {texts.frame.retry}
        </Button>
      )}
      {isLast && turn.phase !== 'stopped' && wasCut(answer) && <Button onClick={goOn}>{texts.chat.goOn}</Button>}
      {!(isLast && failed) && (
        <IconButton icon="retry" label={texts.chat.answerAgain} disabled={isAnswering} onClick={() => retry(turn)} />
      )}
      {answer !== '' && turn.fold.state.messageId !== null && <Rating turn={turn} rate={conversation.rate} />}
      {answer !== '' && (
        <Menu
          label={texts.chat.moreActions}
          icon="more"
          isIconOnly
          entries={[
            { label: texts.chat.copyPlain, act: () => void copyText(plainAnswer(answer)) },
            ...(isAnswering ? [] : others).map(({ id, name }) => ({
              label: texts.chat.answerAgainWith(name),
              act: () => retry(turn, id),
            })),
          ]}
        />
      )}
      <Arrows
        of="answer"
        ids={versions.answers}
        shown={turn.fold.state.messageId}
        isDisabled={isAnswering}
        choose={choose}
      />
      {modelName !== null && versions.answers.length > 1 && (
        <span class="answered-by u-muted u-small">{modelName}</span>
      )}
    </div>
  )
}

function Rating({ turn, rate }: { turn: Turn; rate: Conversation['rate'] }) {
  const [asked, setAsked] = useState<'nothing' | 'reason' | 'thanks'>('nothing')
  useEffect(() => setAsked('nothing'), [turn.fold.state.messageId])
  const toggle = (feedback: 'like' | 'dislike'): void => {
    const next: Feedback = turn.feedback === feedback ? null : feedback
    rate(turn, next)
    setAsked(next === null ? 'nothing' : 'reason')
  }
  const thumb = (feedback: 'like' | 'dislike', label: string, icon: IconName) => (
    <IconButton icon={icon} label={label} aria-pressed={turn.feedback === feedback} onClick={() => toggle(feedback)} />
  )
  return (
    <>
      {thumb('like', texts.chat.goodAnswer, 'like')}
      {thumb('dislike', texts.chat.badAnswer, 'dislike')}
      {asked === 'reason' && turn.feedback !== null && (
        <FeedbackForm
          key={turn.feedback}
          isGood={turn.feedback === 'like'}
          send={(reason) => {
            rate(turn, turn.feedback, reason)
            setAsked('thanks')
          }}
          close={() => setAsked('nothing')}
        />
      )}
      {asked === 'thanks' && (
        <p class="feedback-thanks u-muted u-small" role="status">
          {texts.chat.thanks}
        </p>
      )}
    </>
  )
}
