import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAttachments, type Attachments } from './attachments.ts'
import { ClipIcon, CloseIcon, FileIcon, ResearchIcon, SendIcon, StopIcon } from '../controls/icons.tsx'
import type { Question, Service } from '../service/service.ts'

interface ComposerProps {
  readonly service: Service
  /** Whether the model that answers can do deep research. */
  readonly canResearch: boolean
  readonly isAnswering: boolean
  readonly isFollowUp: boolean
  readonly ask: (question: Question, how: { readonly isResearch: boolean }) => void
  readonly stop: () => void
  /** A number that changes with each request to put the cursor into the field. */
  readonly focusRequest: number
}

/** A question that is being written, with its files. */
interface Draft {
  readonly text: string
  readonly setText: (text: string) => void
  readonly isResearch: boolean
  readonly setIsResearch: (isResearch: boolean) => void
  readonly attachments: Attachments
  readonly canSend: boolean
  /** Sent while files were still on their way: goes out once they are up. */
  readonly isHeld: boolean
  readonly send: () => void
}

function useDraft({
  service,
  canResearch,
  isAnswering,
  ask,
}: Pick<ComposerProps, 'service' | 'canResearch' | 'isAnswering' | 'ask'>): Draft {
  const [text, setText] = useState('')
  const [isResearch, setIsResearch] = useState(false)
  const [isHeld, setIsHeld] = useState(false)
  const attachments = useAttachments(service)
  const canSend = text.trim() !== '' && !isAnswering
  const send = (): void => {
    if (!canSend || attachments.isBusy) return setIsHeld(canSend)
    setIsHeld(false)
    ask({ question: text.trim(), files: attachments.take() }, { isResearch: isResearch && canResearch })
    setText('')
    // It takes long and costs much, so each question asks for it anew.
    setIsResearch(false)
  }
  useEffect(() => {
    if (isHeld && !attachments.isBusy) send()
  }, [isHeld, attachments.isBusy])
  return { text, setText, isResearch, setIsResearch, attachments, canSend, isHeld, send }
}

/** Where a question is written: Enter sends, Shift+Enter breaks the line. Files are chosen, dropped or pasted. */
export function Composer({ canResearch, isFollowUp, stop, focusRequest, ...props }: ComposerProps): JSX.Element {
  const draft = useDraft({ ...props, canResearch })
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    // A phone would cover the page with its keyboard before anything was read.
    if (focusRequest > 0 || matchMedia('(hover: hover)').matches) field.current?.focus({ preventScroll: true })
  }, [focusRequest])
  const onKeyDown = (event: KeyboardEvent): void => {
    // While a word is being composed (Chinese, Japanese, …), Enter chooses it.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    draft.send()
  }
  const takeFiles = (event: Event, data: DataTransfer | null): void => {
    const files = [...(data?.files ?? [])]
    if (files.length === 0) return
    event.preventDefault()
    draft.attachments.add(files)
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        draft.send()
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => takeFiles(event, event.dataTransfer)}
    >
      <AttachmentList attachments={draft.attachments} />
      <label class="visually-hidden" for="question">
        Your question
      </label>
      <textarea
        ref={field}
        id="question"
        rows={1}
        value={draft.text}
        placeholder={isFollowUp ? 'Ask a follow-up' : 'Ask your documents'}
        enterkeyhint="send"
        onInput={(event) => draft.setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => takeFiles(event, event.clipboardData)}
      />
      <Tools {...draft} canResearch={canResearch} />
      {props.isAnswering ? <StopButton stop={stop} /> : <SendButton {...draft} />}
    </form>
  )
}

function Tools({
  attachments,
  isResearch,
  setIsResearch,
  canResearch,
}: Draft & Pick<ComposerProps, 'canResearch'>): JSX.Element {
  return (
    <div class="composer-tools">
      <FilePicker add={attachments.add} />
      {canResearch && (
        <button
          type="button"
          class="tool-button"
          aria-pressed={isResearch}
          title="Researches the next question in several steps: takes longer and uses more of the model"
          onClick={() => setIsResearch(!isResearch)}
        >
          <ResearchIcon />
          Deep research
        </button>
      )}
    </div>
  )
}

function StopButton({ stop }: Pick<ComposerProps, 'stop'>): JSX.Element {
  return (
    <button type="button" class="send" onClick={stop} aria-label="Stop answering" title="Stop answering">
      <StopIcon />
    </button>
  )
}

function SendButton({ canSend, isHeld }: Draft): JSX.Element {
  return (
    <button type="submit" class="send" disabled={!canSend || isHeld} aria-label="Send question" title="Send (Enter)">
      <SendIcon />
    </button>
  )
}

function FilePicker({ add }: Pick<Attachments, 'add'>): JSX.Element {
  const picker = useRef<HTMLInputElement>(null)
  return (
    <>
      <button
        type="button"
        class="tool-button"
        aria-label="Attach files"
        title="Attach files to the question"
        onClick={() => picker.current?.click()}
      >
        <ClipIcon />
      </button>
      <input
        ref={picker}
        type="file"
        multiple
        class="visually-hidden"
        tabIndex={-1}
        aria-label="Files for the question"
        onChange={(event) => {
          add([...(event.currentTarget.files ?? [])])
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}

function AttachmentList({ attachments }: { attachments: Attachments }): JSX.Element | null {
  if (attachments.all.length === 0) return null
  return (
    <ul class="attachments" aria-label="Files for the question">
      {attachments.all.map(({ id, name, sent, refusal }) => (
        <li key={id} class={refusal === null ? 'file-chip' : 'file-chip refused'}>
          <FileIcon />
          <span>
            {name}
            {refusal === null ? sent === null && ' (uploading)' : `: ${refusal}`}
          </span>
          <button type="button" aria-label={`Remove ${name}`} onClick={() => attachments.remove(id)}>
            <CloseIcon />
          </button>
        </li>
      ))}
    </ul>
  )
}
