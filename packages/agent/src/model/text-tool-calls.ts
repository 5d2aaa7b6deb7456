import { readJson } from '@inlay/protocol'
import type { RequestedCall } from './exchange.ts'

/** Keeps call markup out of an answer while it streams, and finds calls that a model wrote as text. */
export interface TextGate {
  /** Takes a piece of text; returns what may be shown by now. */
  push(text: string): string
  /** Ends the text: gives the rest that may be shown, or the calls that were the only output. */
  end(): { readonly text: string; readonly calls: readonly RequestedCall[] }
}

/** What a gate watches for. */
export interface TextGateOptions {
  /** Names of the actions offered in this step. */
  readonly names: ReadonlySet<string>
  /** Whether text that is nothing but a call may become one. */
  readonly mayRecover: boolean
}

const opening = '<function_calls'
const closing = '</function_calls>'
// A whole call is short; text that goes on longer is an answer that happens to begin with a brace.
const jsonLimit = 8_192

/** Makes the gate of one step. */
export function createTextGate({ names, mayRecover }: TextGateOptions): TextGate {
  let held = ''
  let markup = ''
  let isInMarkup = false
  let hasText = false
  const watchesJson = mayRecover && names.size > 0

  const take = (ended: boolean): string => {
    let shown = ''
    while (held !== '') {
      if (isInMarkup) {
        const end = held.indexOf(closing)
        const upTo = end === -1 ? (ended ? held.length : held.length - overlap(held, closing)) : end + closing.length
        markup += held.slice(0, upTo)
        held = held.slice(upTo)
        if (end === -1) break
        isInMarkup = false
        continue
      }
      const at = held.indexOf(opening)
      const upTo = at === -1 ? (ended ? held.length : held.length - overlap(held, opening)) : at
      shown += held.slice(0, upTo)
      held = held.slice(upTo)
      if (at === -1) break
      isInMarkup = true
    }
    if (shown.trim() !== '') hasText = true
    return shown
  }
  const isMaybeJson = (): boolean =>
    watchesJson &&
    !hasText &&
    !isInMarkup &&
    markup === '' &&
    held.length < jsonLimit &&
    /^\s*(\{|```(json)?\s*\{?|`{1,2}$)/.test(held)

  return {
    push: (text) => {
      held += text
      return isMaybeJson() ? '' : take(false)
    },
    end: () => {
      const json = isMaybeJson() ? readJsonCalls(held, names) : []
      if (json.length > 0) return { text: '', calls: json }
      const text = take(true)
      const isOnlyMarkup = mayRecover && !hasText && text.trim() === '' && markup !== ''
      const calls = isOnlyMarkup ? readMarkupCalls(markup, names) : []
      return { text: calls.length > 0 ? '' : text, calls }
    },
  }
}

/** Finds the calls in a text that is nothing but calls: markup, or JSON that names an action. */
export function readTextCalls(text: string, names: ReadonlySet<string>): readonly RequestedCall[] {
  const json = readJsonCalls(text, names)
  return json.length > 0 ? json : readMarkupCalls(text, names)
}

/** How many characters at the end of the text could be the beginning of the word. */
function overlap(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length--) {
    if (word.startsWith(text.slice(text.length - length))) return length
  }
  return 0
}

function readJsonCalls(text: string, names: ReadonlySet<string>): RequestedCall[] {
  const bare = text
    .trim()
    .replace(/^```(?:json)?\s*/, '')
    .replace(/\s*```$/, '')
  const parsed = readJson(bare)
  if (typeof parsed !== 'object' || parsed === null) return []
  const fields = new Map(Object.entries(parsed))
  const name = [fields.get('name'), fields.get('tool'), fields.get('tool_name'), fields.get('function')].find(
    (value) => typeof value === 'string',
  )
  if (typeof name !== 'string' || !names.has(name)) return []
  const given = fields.get('arguments') ?? fields.get('parameters') ?? fields.get('input') ?? fields.get('args') ?? {}
  return [{ id: '', name, input: typeof given === 'string' ? given : JSON.stringify(given) }]
}

function readMarkupCalls(markup: string, names: ReadonlySet<string>): RequestedCall[] {
  if (!markup.includes(opening)) return []
  return [...markup.matchAll(/<invoke\s+name="([^"]+)"\s*>([\s\S]*?)<\/invoke>/g)].flatMap(
    ([, name = '', body = '']) => {
      if (!names.has(name)) return []
      const parameters = [...body.matchAll(/<parameter\s+name="([^"]+)"[^>]*>([\s\S]*?)<\/parameter>/g)]
      const input = Object.fromEntries(parameters.map(([, key = '', value = '']) => [key, readJson(value) ?? value]))
      return [{ id: '', name, input: JSON.stringify(input) }]
    },
  )
}
