import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../controls/icons.tsx'
import { texts } from '../texts/texts.ts'
import { Arrows } from './arrows.tsx'
import type { Conversation } from './conversation.ts'
import { questionParts } from './copied-answer.ts'
import type { Turn } from '@inlay/client/conversation'
import { Button } from '../controls/button.tsx'

interface QuestionViewProps {
  readonly turn: Turn
  readonly id: string
  /** Null if the conversation is read-only. */
  readonly conversation: Pick<Conversation, 'isAnswering' | 'edit' | 'choose'> | null
}

/** A question, collapsed if it is long. Editing it starts another branch. */
export function QuestionView({ turn, id, conversation }: QuestionViewProps) {
  const [isEditing, setIsEditing] = useState(false)
  const isLong = turn.question.length > longQuestion || turn.question.split('\n').length > 10
  const [isFolded, setIsFolded] = useState(isLong)
  const editButton = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)
  useEffect(() => {
    if (wasEditing.current && !isEditing && document.activeElement === document.body) editButton.current?.focus()
    wasEditing.current = isEditing
  }, [isEditing])
  const { quote, words } = questionParts(turn.question)
  const canEdit = turn.phase !== 'answering' && turn.fold.state.userMessageId !== null && !conversation?.isAnswering
  const { showAll, showLess, editQuestion } = texts.chat
  return (
    <div class="question-place u-flex">
      {/* It names the article, so it stays while the field is shown. */}
      <h2
        class={isLong && isFolded ? 'question folded u-anywhere u-reading' : 'question u-anywhere u-reading'}
        id={id}
        dir="auto"
        hidden={isEditing}
      >
        {quote !== '' && (
          <span class="question-quote u-muted u-block u-body" dir="auto">
            {quote}
          </span>
        )}
        {words}
      </h2>
      {isEditing ? (
        <QuestionForm
          words={turn.question}
          ask={(changed) => {
            setIsEditing(false)
            if (changed !== turn.question) conversation?.edit(turn, changed)
          }}
          cancel={() => setIsEditing(false)}
        />
      ) : (
        <div class="question-actions u-row u-gap-8 u-small">
          {isLong && (
            <Button kind="text" aria-expanded={!isFolded} onClick={() => setIsFolded(!isFolded)}>
              {isFolded ? showAll : showLess}
            </Button>
          )}
          {conversation !== null && (
            <Arrows
              of="question"
              ids={turn.versions.questions}
              shown={turn.fold.state.userMessageId}
              isDisabled={conversation.isAnswering}
              choose={conversation.choose}
            />
          )}
          {conversation !== null && canEdit && (
            <button
              type="button"
              ref={editButton}
              class="icon-button"
              aria-label={editQuestion}
              title={editQuestion}
              onClick={() => setIsEditing(true)}
            >
              <Icon name="pen" />
            </button>
          )}
        </div>
      )}
    </div>
  )
}

/** Longer questions are folded; characters. */
const longQuestion = 900

function QuestionForm({ words, ask, cancel }: { words: string; ask: (words: string) => void; cancel: () => void }) {
  const [text, setText] = useState(words)
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus(), [])
  const send = (): void => {
    if (text.trim() !== '') ask(text.trim())
  }
  return (
    <form
      class="question-form u-grid u-gap-8 u-full"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') cancel()
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
        event.preventDefault()
        send()
      }}
    >
      <textarea
        class="u-surface u-reading"
        ref={field}
        aria-label={texts.chat.otherWords}
        dir="auto"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="row u-to-end">
        <button type="submit" class="button" disabled={text.trim() === ''}>
          {texts.frame.ask}
        </button>
        <Button onClick={cancel}>{texts.frame.cancel}</Button>
      </div>
    </form>
  )
}
