import type { Question } from '@inlay/client/conversation'
import type { MinimalPersona } from '@inlay/protocol'
import type { ButtonHTMLAttributes } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAttachments } from './attachments.ts'
import { FileField } from '../controls/file-field.tsx'
import { IconButton } from '../controls/icon-button.tsx'
import { Icon } from '../controls/icons.tsx'
import { lazily } from '../markdown/lazily.ts'
import { keep, readKept } from '../kept.ts'
import {
  defaultSettings,
  type AgentAction,
  type AnswerSettings,
  type ListedModel,
  type Service,
} from '../service/service.ts'
import { useFileDrop } from '../controls/use-file-drop.ts'
import { useListener } from '../controls/use-listener.ts'
import { texts } from '../texts/texts.ts'
import { AttachmentList } from './attachment-list.tsx'
import { chosenSettings, pastedFile } from './composer-options.ts'
import { SuggestionList, useSuggestions, type Suggestion } from './suggestions.tsx'

export interface ComposerProps {
  readonly service: Service
  readonly canResearch: boolean
  readonly isAnswering: boolean
  readonly isFollowUp: boolean
  readonly ask: (question: Question, how: { readonly isResearch: boolean }) => void
  readonly stop: () => void
  readonly queue: readonly Question[]
  readonly unqueue: (question: Question) => void
  /** The conversation a draft belongs to; null for a new one. */
  readonly sessionId: string | null
  /** A number that changes with each request to put the cursor into the field. */
  readonly focusRequest: number
  /** A text that goes before what is written; "" for none. */
  readonly insertion: string
  readonly inserted: () => void
  readonly settings: AnswerSettings
  readonly changeSettings: (settings: AnswerSettings) => void
  readonly models: readonly ListedModel[]
  readonly actions: readonly AgentAction[]
  readonly agents: readonly MinimalPersona[]
  readonly chooseAgent: (agentId: number) => void
  readonly newChat: () => void
}

type Draft = ReturnType<typeof useDraft>

function useDraft({ service, canResearch, isAnswering, sessionId, ask }: ComposerProps) {
  const [text, setText] = useKeptText(sessionId, isAnswering)
  const [isResearch, setIsResearch] = useState(false)
  /** Sent while files were still on their way: goes out once they are up. */
  const [isHeld, setIsHeld] = useState(false)
  const attachments = useAttachments(service)
  const canSend = text.trim() !== ''
  const send = (): void => {
    if (!canSend || attachments.isBusy) return setIsHeld(canSend)
    setIsHeld(false)
    ask({ question: text.trim(), files: attachments.take() }, { isResearch: isResearch && canResearch })
    setText('')
    // Research takes long and is expensive, so it is selected for each question.
    setIsResearch(false)
  }
  useEffect(() => {
    if (isHeld && !attachments.isBusy) send()
  }, [isHeld, attachments.isBusy])
  return { text, setText, isResearch, setIsResearch, attachments, canSend, isHeld, send }
}

/**
 * The text of a draft, kept for each conversation while the browser's tab is open.
 * @param hasBegun whether the conversation may just have got its id: the draft then goes on with it
 */
function useKeptText(sessionId: string | null, hasBegun: boolean): [string, (text: string) => void] {
  const [text, setText] = useState(() => keptDraft(sessionId))
  const shownFor = useRef(sessionId)
  useLayoutEffect(() => {
    const before = shownFor.current
    if (before === sessionId) return
    shownFor.current = sessionId
    if (before === null && hasBegun) {
      keepDraft(null, '')
      keepDraft(sessionId, text)
    } else setText(keptDraft(sessionId))
  }, [sessionId])
  const change = (next: string): void => {
    setText(next)
    keepDraft(sessionId, next)
  }
  return [text, change]
}

const draftName = (sessionId: string | null): string => `inlay-draft:${sessionId ?? 'new'}`
const keptDraft = (sessionId: string | null): string => readKept(draftName(sessionId), 'sessionStorage') ?? ''
const keepDraft = (sessionId: string | null, text: string): void =>
  keep(draftName(sessionId), text === '' ? null : text, 'sessionStorage')

export function Composer(props: ComposerProps) {
  const { isFollowUp, queue, unqueue, service, isAnswering, stop, insertion, inserted, focusRequest } = props
  const draft = useDraft(props)
  const { attachments } = draft
  const field = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const [caret, setCaret] = useState(0)
  const [showsOptions, setShowsOptions] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const isDropped = useFileDrop(form, (data) => attachments.add([...data.files]))
  const write = (text: string, at = text.length): void => {
    draft.setText(text)
    setCaret(at)
    field.current?.focus()
    // Once the field holds it.
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at))
  }
  const suggestions = useSuggestions({
    text: draft.text,
    caret,
    commands: commandsOf(props, draft, { pick: () => picker.current?.click(), open: () => setShowsOptions(true) }),
    agents: isFollowUp || props.agents.length < 2 ? [] : props.agents,
    chooseAgent: props.chooseAgent,
    service,
    replace: ({ start }, words) =>
      write(draft.text.slice(0, start) + words + draft.text.slice(caret), start + words.length),
  })
  useEffect(() => {
    if (insertion === '') return
    write(insertion + draft.text)
    inserted()
  }, [insertion])
  useEffect(() => {
    // A phone would cover the page with its keyboard before anything was read.
    if (focusRequest > 0 || matchMedia('(hover: hover)').matches) field.current?.focus({ preventScroll: true })
  }, [focusRequest])
  useListener(window, 'keydown', ({ key, defaultPrevented, isComposing }) => {
    if (isAnswering && key === 'Escape' && !defaultPrevented && !isComposing) stop()
  })
  const onKeyDown = (event: KeyboardEvent): void => {
    if (suggestions.onKeyDown(event)) return
    // While a word is being composed (Chinese, Japanese, …), Enter chooses it.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    draft.send()
  }
  const onPaste = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])]
    const text = event.clipboardData?.getData('text/plain') ?? ''
    const file = files.length === 0 ? pastedFile(text, texts.chat.pastedText) : null
    if (files.length === 0 && file === null) return
    event.preventDefault()
    if (file === null) attachments.add(files)
    else attachments.add([file], text)
  }
  const closeOptions = (): void => {
    setShowsOptions(false)
    field.current?.focus()
  }
  const listId = 'suggestions'
  const marked = suggestions.all.length > 0 ? `${listId}-${suggestions.marked}` : undefined
  return (
    <div class="u-relative">
      <SuggestionList suggestions={suggestions} id={listId} />
      {showsOptions && <Options {...props} close={closeOptions} />}
      <form
        ref={form}
        class={`composer ${isDropped ? 'dropping ' : ''}u-grid u-line u-surface u-shadow`}
        onSubmit={(event) => {
          event.preventDefault()
          draft.send()
        }}
      >
        <Queue queue={queue} unqueue={unqueue} />
        <Chips {...props} />
        <AttachmentList
          attachments={attachments}
          asText={({ id, pasted }) => {
            attachments.remove(id)
            write(draft.text + (pasted ?? ''))
          }}
        />
        <label class="visually-hidden" for="question">
          {texts.chat.yourQuestion}
        </label>
        <textarea
          class="u-full u-no-ground u-reading u-all-columns u-min-0 u-no-border"
          ref={field}
          id="question"
          rows={1}
          value={draft.text}
          dir="auto"
          placeholder={isDropped ? texts.chat.dropHere : isFollowUp ? texts.chat.askFollowUp : texts.chat.welcome}
          enterkeyhint="send"
          aria-autocomplete="list"
          aria-controls={marked === undefined ? undefined : listId}
          aria-activedescendant={marked}
          onInput={({ currentTarget }) => {
            draft.setText(currentTarget.value)
            setCaret(currentTarget.selectionStart)
          }}
          onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div class="composer-tools u-row u-gap-4">
          <ToolButton
            aria-label={texts.chat.attach}
            title={texts.chat.attachHint}
            onClick={() => picker.current?.click()}
          >
            <Icon name="clip" />
          </ToolButton>
          <FileField picker={picker} label={texts.chat.files} take={attachments.add} />
          <ToolButton
            aria-label={texts.chat.options.open}
            title={texts.chat.options.openHint}
            aria-expanded={showsOptions}
            onClick={() => setShowsOptions(!showsOptions)}
          >
            <Icon name="sliders" />
          </ToolButton>
          {props.canResearch && (
            <ToolButton
              aria-pressed={draft.isResearch}
              title={texts.chat.researchHint}
              onClick={() => draft.setIsResearch(!draft.isResearch)}
            >
              <Icon name="research" />
              {texts.chat.research}
            </ToolButton>
          )}
        </div>
        {/* Two buttons: the press that stops an answer must not send what is written. */}
        <SendButton {...draft} key={isAnswering ? 'stop' : 'send'} isAnswering={isAnswering} stop={stop} />
      </form>
    </div>
  )
}

function commandsOf(
  { canResearch, newChat, changeSettings }: ComposerProps,
  { setIsResearch }: Draft,
  { pick, open }: { readonly pick: () => void; readonly open: () => void },
): readonly Suggestion[] {
  const hints = texts.chat.suggestions
  return [
    { name: '/new', hint: hints.new, act: newChat },
    { name: '/files', hint: hints.files, act: pick },
    { name: '/options', hint: hints.options, act: open },
    ...(canResearch ? [{ name: '/research', hint: hints.research, act: () => setIsResearch(true) }] : []),
    { name: '/reset', hint: hints.reset, act: () => changeSettings(defaultSettings) },
  ]
}

const usePanel = lazily(async () => (await import('./options-panel.tsx')).OptionsPanel)

function Options(props: ComposerProps & { readonly close: () => void }) {
  const Panel = usePanel(true)
  return Panel === undefined ? null : <Panel {...props} change={props.changeSettings} />
}

function Chips({ settings, models, actions, changeSettings }: ComposerProps) {
  const chosen = chosenSettings(settings, models, actions)
  if (chosen.length === 0) return null
  return (
    <ul class="setting-chips u-flex u-wrap u-gap-6 u-all-columns" aria-label={texts.chat.options.chosen}>
      {chosen.map(({ label, without }) => (
        <li key={label} class="file-chip">
          <span>{label}</span>
          <button type="button" aria-label={texts.chat.options.remove(label)} onClick={() => changeSettings(without)}>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  )
}

const ToolButton = (button: ButtonHTMLAttributes<HTMLButtonElement>) => (
  <button
    type="button"
    class="tool-button u-inline-flex u-center u-gap-6 u-note u-medium u-no-ground u-as-tall"
    {...button}
  />
)

function Queue({ queue, unqueue }: Pick<ComposerProps, 'queue' | 'unqueue'>) {
  if (queue.length === 0) return null
  return (
    <ul class="queue u-grid u-gap-2 u-all-columns u-note u-line-below" aria-label={texts.chat.askedNext}>
      {queue.map((question, at) => (
        <li class="u-flex u-between u-center u-gap-8" key={at}>
          <span class="u-ellipsis u-min-0" dir="auto">
            {question.question}
          </span>
          <IconButton
            icon="close"
            label={texts.chat.doNotAskThing(question.question)}
            title={texts.chat.doNotAsk}
            onClick={() => unqueue(question)}
          />
        </li>
      ))}
    </ul>
  )
}

function SendButton({ canSend, isHeld, isAnswering, stop }: Draft & Pick<ComposerProps, 'isAnswering' | 'stop'>) {
  return (
    <button
      type={isAnswering ? 'button' : 'submit'}
      class="send u-grid u-place-center u-no-border u-flex-none"
      disabled={!isAnswering && (!canSend || isHeld)}
      aria-label={isAnswering ? texts.chat.stopAnswering : texts.chat.sendQuestion}
      title={isAnswering ? texts.chat.stopHint : texts.chat.sendHint}
      onClick={isAnswering ? stop : undefined}
    >
      <Icon name={isAnswering ? 'stop' : 'send'} />
    </button>
  )
}
