import type { MethodSpec, ToolMethods } from '@inlay/protocol'
import { useState } from 'preact/hooks'
import { adminTexts } from '../texts/view-texts.ts'
import { Choice, Field } from './parts.tsx'

/** Most functions of one action; the service refuses more. */
export const maxChosen = 100
/** Rows that are drawn; a search narrows the others down. */
const maxShown = 200

interface OperationChoiceProps {
  readonly checked: ToolMethods
  /** Names of the functions. */
  readonly chosen: ReadonlySet<string>
  readonly choose: (chosen: ReadonlySet<string>) => void
}

export function OperationChoice({ checked, chosen, choose }: OperationChoiceProps) {
  const texts = adminTexts.action
  const [words, setWords] = useState('')
  const [tag, setTag] = useState('')
  const { methods, skipped } = checked
  const tags = [...new Set(methods.flatMap(tagsOf))].sort()
  const found = searched(methods, words, tag)
  const set = (some: readonly MethodSpec[], isChosen: boolean): void => {
    const names = new Set(some.map(({ name }) => name))
    const others = [...chosen].filter((name) => !names.has(name))
    choose(new Set(isChosen ? [...others, ...names] : others))
  }
  return (
    <fieldset class="u-grid u-gap-8 u-min-0 u-no-border">
      <legend class="u-muted u-small">{texts.functions(methods.length)}</legend>
      <div class="fields u-grid u-gap-12">
        <Field label={texts.searchFunctions} onInput={setWords} />
        {tags.length > 0 && (
          <Choice
            label={texts.tag}
            options={[['', texts.anyTag], ...tags.map((known) => [known] as const)]}
            value={tag}
            onChange={setTag}
          />
        )}
      </div>
      <div class="row">
        <span role="status">{texts.chosen(chosen.size, maxChosen)}</span>
        {([true, false] as const).map((isChosen) => (
          <button
            key={isChosen}
            type="button"
            class="quiet-button"
            disabled={found.length === 0}
            onClick={() => set(found, isChosen)}
          >
            {isChosen ? texts.chooseFound : texts.leaveFound}
          </button>
        ))}
      </div>
      <ul class="methods u-grid u-gap-4 u-scroll">
        {found.slice(0, maxShown).map((operation) => {
          const { name, method, path, summary } = operation
          const facts = [`${method} ${path}`, summary].filter((text) => text !== '').join(' · ')
          return (
            <li key={name}>
              <label class="u-flex u-gap-8 u-baseline">
                <input
                  type="checkbox"
                  checked={chosen.has(name)}
                  onChange={(event) => set([operation], event.currentTarget.checked)}
                />
                <span class="u-min-0 u-anywhere">
                  <code>{name}</code> <span class="facts u-small">{facts}</span>
                </span>
              </label>
            </li>
          )
        })}
        {found.length > maxShown && <li class="u-muted u-small">{texts.moreFunctions(found.length - maxShown)}</li>}
      </ul>
      <Skipped words={texts.notCallable(skipped.length)} operations={skipped} />
    </fieldset>
  )
}

export function Skipped({ words, operations }: { words: string; operations: ToolMethods['skipped'] }) {
  if (operations.length === 0) return null
  return (
    <details>
      <summary>{words}</summary>
      <ul class="methods u-grid u-gap-4 u-scroll">
        {operations.slice(0, maxShown).map(({ method, path, reason }) => (
          <li key={`${method} ${path}`} class="facts u-small u-anywhere">
            {method} {path}: {reason}
          </li>
        ))}
      </ul>
    </details>
  )
}

/** Functions that have each of the words in name, path or summary, and the tag. */
export function searched(methods: readonly MethodSpec[], words: string, tag: string): readonly MethodSpec[] {
  const wanted = words.toLowerCase().split(/\s+/)
  return methods.filter((method) => {
    const text = `${method.name} ${method.method} ${method.path} ${method.summary}`.toLowerCase()
    return (tag === '' || tagsOf(method).includes(tag)) && wanted.every((word) => text.includes(word))
  })
}

function tagsOf({ spec }: MethodSpec): readonly string[] {
  const { tags } = spec
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
}
