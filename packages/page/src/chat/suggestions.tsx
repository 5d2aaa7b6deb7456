import type { MinimalPersona } from '@inlay/protocol'
import { useEffect, useState } from 'preact/hooks'
import { typingMs, useLoaded } from '../controls/use-loaded.ts'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { triggerAt, type Trigger } from './composer-options.ts'

export interface Suggestion {
  readonly name: string
  readonly hint: string
  /** The text that takes the place of the word that was typed. Default: none. */
  readonly text?: string
  readonly act?: () => void
}

interface SuggestionSources {
  readonly text: string
  readonly caret: number
  readonly commands: readonly Suggestion[]
  /** Agents to choose from; empty once the chat has begun. */
  readonly agents: readonly MinimalPersona[]
  readonly chooseAgent: (agentId: number) => void
  readonly service: Pick<Service, 'documents'>
  readonly replace: (trigger: Trigger, text: string) => void
}

const maxDocuments = 6

export type Suggestions = ReturnType<typeof useSuggestions>

export function useSuggestions(sources: SuggestionSources) {
  const { text, caret, commands, agents, chooseAgent, service, replace } = sources
  const [marked, setMarked] = useState(0)
  const [closedFor, setClosedFor] = useState<string | null>(null)
  const trigger = triggerAt(text, caret)
  const isOpen = trigger !== null && closedFor !== text
  const mention = isOpen && trigger.kind === 'mention' ? trigger.word : null
  const titles = useTitles(service, mention)
  useEffect(() => setMarked(0), [text])
  const all = isOpen ? found(trigger, titles) : []
  const choose = ({ text: words = '', act }: Suggestion): void => {
    if (trigger === null) return
    replace(trigger, words)
    act?.()
  }
  return {
    all,
    marked,
    choose,
    /** Handles the keys of the list. @returns whether the key was handled */
    onKeyDown: (event: KeyboardEvent): boolean => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      const chosen = all[marked]
      if (chosen === undefined || event.isComposing) return false
      if (step !== undefined) setMarked((marked + step + all.length) % all.length)
      else if (event.key === 'Enter' || event.key === 'Tab') choose(chosen)
      else if (event.key === 'Escape') setClosedFor(text)
      else return false
      event.preventDefault()
      return true
    },
  }

  function found({ kind, word }: Trigger, documents: readonly string[]): readonly Suggestion[] {
    if (kind === 'command') return commands.filter(({ name }) => name.startsWith(`/${word.toLowerCase()}`))
    const offered = agents.filter(({ name }) => name.toLowerCase().includes(word.toLowerCase()))
    return [
      ...offered.map(({ id, name, description }) => ({
        name,
        hint: description === '' ? texts.chat.suggestions.agent : description,
        act: () => chooseAgent(id),
      })),
      // A title in a question finds its document.
      ...documents.map((title) => ({ name: title, hint: texts.chat.suggestions.document, text: `“${title}” ` })),
    ]
  }
}

function useTitles(service: Pick<Service, 'documents'>, word: string | null): readonly string[] {
  const { value, failure } = useLoaded(
    async (signal) => {
      if (word === null) return []
      const query = { limit: maxDocuments, ...(word !== '' && { match: word }), signal }
      const { documents } = await service.documents(query)
      return [...new Set(documents.map(({ semantic_id: title }) => title))]
    },
    [service, word],
    { delayMs: typingMs },
  )
  // Keys without permission to list documents get no suggestions.
  return word === null || failure !== null || value === undefined ? [] : value
}

/** The list of suggestions; the field of the question stays focused and names the marked one. */
export function SuggestionList({ suggestions, id }: { suggestions: Suggestions; id: string }) {
  const { all, marked, choose } = suggestions
  if (all.length === 0) return null
  return (
    <div
      class="suggestions u-grid u-surface u-scroll u-line u-round u-shadow"
      id={id}
      role="listbox"
      aria-label={texts.chat.suggestions.title}
    >
      {all.map((suggestion, at) => (
        <div
          key={`${suggestion.name} ${at}`}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === marked}
          class={at === marked ? 'marked' : undefined}
          // A press must not take the focus from the field.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => choose(suggestion)}
        >
          <span class="u-medium u-anywhere" dir="auto">
            {suggestion.name}
          </span>
          <span class="u-grow u-min-0 u-note u-ellipsis" dir="auto">
            {suggestion.hint}
          </span>
        </div>
      ))}
    </div>
  )
}
