import type { ComponentChildren, InputHTMLAttributes, JSX, TextareaHTMLAttributes } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Confirm } from '../controls/confirm.tsx'
import { FailureNote } from '../controls/failure-note.tsx'
import { useLoaded, type Loaded } from '../controls/use-loaded.ts'
import type { ServiceCalls } from '../service/calls.ts'
import { toFailure, type Failure } from '../service/failure.ts'
import { texts } from '../texts/texts.ts'
import { Button } from '../controls/button.tsx'

export function useRead<Answer>(calls: ServiceCalls, path: string): Loaded<Answer> {
  return useLoaded((signal) => calls.get<Answer>(path, signal), [calls, path])
}

export function Waiting({ loaded }: { loaded: Pick<Loaded<unknown>, 'value' | 'failure'> }) {
  if (loaded.failure !== null) return <FailureNote failure={loaded.failure} />
  return loaded.value === undefined ? <p class="nothing u-muted">{texts.frame.loading}</p> : null
}

interface FiguresProps {
  readonly label: string
  /** Names of the columns; those behind the first `words` hold numbers. */
  readonly head: readonly string[]
  readonly words: number
  readonly children: ComponentChildren
}

/** A table that scrolls sideways by itself, so it must be reachable by keyboard. */
export function Figures({ label, head, words, children }: FiguresProps) {
  return (
    <div class="table-frame u-line u-round u-above-8" tabIndex={0} role="group" aria-label={label}>
      <table class="figures u-full u-small">
        <thead>
          <tr>
            {head.map((name, at) => (
              <th key={name} scope="col" class={at < words ? undefined : 'amount'}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

interface FormProps {
  readonly label: string
  /** Words of the button. */
  readonly action: string
  /** Rejects with an error that is shown above the buttons. */
  readonly submit: (fields: FormData) => Promise<void>
  readonly cancel?: () => void
  readonly children: ComponentChildren
}

/** A form that shows errors and cannot be submitted twice. */
export function Form({ label, action, submit, cancel, children }: FormProps) {
  const [isBusy, setIsBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  return (
    <form
      class="admin-form u-grid u-min-0 u-card u-inside-16"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        if (isBusy) return
        setIsBusy(true)
        setFailure(null)
        submit(new FormData(event.currentTarget))
          .catch((error: unknown) =>
            setFailure(error instanceof BadField ? { message: error.message, retryable: false } : toFailure(error)),
          )
          .finally(() => setIsBusy(false))
      }}
    >
      {children}
      {failure !== null && <FailureNote failure={failure} />}
      <div class="row">
        {/* Not disabled: that would take the focus away from whoever pressed it. */}
        <button type="submit" class="button" aria-disabled={isBusy}>
          {action}
        </button>
        {cancel !== undefined && <Button onClick={cancel}>{texts.frame.cancel}</Button>}
      </div>
    </form>
  )
}

/** Thrown for invalid input of a form; the message is shown to the user. */
export class BadField extends Error {}

interface FieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onInput'> {
  readonly label: string
  readonly hint?: string
  readonly type?: 'text' | 'email' | 'number' | 'file' | 'password' | 'url'
  /** Id of a `datalist`. */
  readonly list?: string
  /** Puts the cursor there when the form opens. */
  readonly isFirst?: boolean
  readonly onInput?: (value: string) => void
}

export function Field({ label, hint, isFirst = false, onInput, type = 'text', ...input }: FieldProps) {
  const field = useRef<HTMLInputElement>(null)
  // Its type has a variant for each kind of field, none for a kind that varies.
  const attributes = { ...input, type } as JSX.IntrinsicElements['input']
  useEffect(() => {
    if (isFirst) field.current?.focus()
  }, [])
  return (
    <label class="field u-grid u-gap-4 u-min-0 u-note">
      <span>{label}</span>
      <input ref={field} {...attributes} autocomplete="off" onInput={(event) => onInput?.(event.currentTarget.value)} />
      {hint !== undefined && <small>{hint}</small>}
    </label>
  )
}

interface AreaProps extends TextareaHTMLAttributes<HTMLTextAreaElement> {
  readonly label: string
  readonly hint?: string
}

export function Area({ label, hint, ...area }: AreaProps) {
  return (
    <label class="field u-grid u-gap-4 u-min-0 u-note">
      <span>{label}</span>
      <textarea rows={4} spellcheck={false} {...area} />
      {hint !== undefined && <small>{hint}</small>}
    </label>
  )
}

interface ChoiceProps {
  readonly label: string
  /** Words default to the value. */
  readonly options: readonly (readonly [value: string | number, words?: string])[]
  readonly name?: string
  readonly value?: string | number
  readonly isInline?: boolean
  readonly onChange?: (value: string) => void
}

export function Choice({ label, options, isInline = false, onChange, ...select }: ChoiceProps) {
  return (
    <label class={`field ${isInline ? 'inline u-row u-wrap u-gap-8' : 'u-grid u-gap-4'} u-min-0 u-note`}>
      <span>{label}</span>
      <select {...select} onChange={(event) => onChange?.(event.currentTarget.value)}>
        {options.map(([value, words = value]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}

interface ChecksProps {
  readonly label: string
  readonly name: string
  readonly options: readonly (readonly [value: string, label: string, hint?: string])[]
  readonly chosen: readonly string[]
  /** Words of a box that ticks all of them. Default: there is none. */
  readonly all?: string
}

export function Checks({ label, name, options, chosen, all }: ChecksProps) {
  return (
    <fieldset class="checks u-grid u-gap-6 u-min-0 u-no-border">
      <legend class="u-muted u-small">{label}</legend>
      {all !== undefined && (
        <label class="u-flex u-gap-8 u-baseline">
          <input
            type="checkbox"
            defaultChecked={options.every(([value]) => chosen.includes(value))}
            onChange={({ currentTarget }) => {
              for (const input of currentTarget.closest('fieldset')?.querySelectorAll('input') ?? [])
                input.checked = currentTarget.checked
            }}
          />
          <span>{all}</span>
        </label>
      )}
      {options.map(([value, words, hint]) => (
        <label key={value} class="u-flex u-gap-8 u-baseline">
          <input type="checkbox" name={name} value={value} defaultChecked={chosen.includes(value)} />
          <span>
            {words}
            {hint !== undefined && <small class="u-muted u-block">{hint}</small>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

export function Check({ label, name, checked }: { label: string; name: string; checked: boolean }) {
  return (
    <label class="check u-flex u-gap-8 u-baseline">
      <input type="checkbox" name={name} defaultChecked={checked} />
      <span>{label}</span>
    </label>
  )
}

interface RemovalProps {
  readonly name: string
  /** Default: "Delete". */
  readonly words?: string
  /** Default: "Delete", and the name. */
  readonly label?: string
  readonly question: string
  readonly remove: () => Promise<unknown>
}

export function Removal({
  name,
  words = texts.frame.delete,
  label = texts.frame.deleteThing(name),
  question,
  remove,
}: RemovalProps) {
  const [phase, setPhase] = useState<'shown' | 'asking' | 'removing'>('shown')
  const [failure, setFailure] = useState<Failure | null>(null)
  if (phase === 'shown')
    return (
      <>
        <Button label={label} onClick={() => setPhase('asking')}>
          {words}
        </Button>
        {failure !== null && <FailureNote failure={failure} />}
      </>
    )
  return (
    <Confirm
      class="u-center"
      question={question}
      words={words}
      keep={() => setPhase('shown')}
      disabled={phase === 'removing'}
      confirm={() => {
        setPhase('removing')
        remove().catch((error: unknown) => {
          setFailure(toFailure(error))
          setPhase('shown')
        })
      }}
    >
      <span class="u-small">{question}</span>
    </Confirm>
  )
}

/** Text of a field, without spaces around it. */
export const textOf = (fields: FormData, name: string): string => {
  const value = fields.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

export const linesOf = (fields: FormData, name: string): readonly string[] =>
  textOf(fields, name)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
