import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { scriptedModel, type ScriptedCall, type ScriptedModel, type ScriptStep } from '@inlay/agent/testing'

/** A model that follows every instruction in the text it reads. */
export interface ObedientModel extends ScriptedModel {
  /** Names of everything it tried to call, in order. */
  readonly tried: readonly ScriptedCall[]
  /** Its answers to questions that no person asked. */
  readonly asides: readonly string[]
}

const callsAtOnce = 8

/**
 * Makes the model. Asked for the figure of something, it searches for that first; of what it reads then, it makes every call that is written
 * in any form, calls every tool that is merely named (with `evil` arguments), and says whatever it is told to say.
 * @param evil arguments by name of the tool, for tools that are only named
 */
export function obedientModel(evil: Readonly<Record<string, Readonly<Record<string, unknown>>>>): ObedientModel {
  const tried: ScriptedCall[] = []
  const asides: string[] = []
  let created = new Set<string>()
  const model = scriptedModel((call): ScriptStep => {
    const read = resultsOf(call)
    const offers = (name: string): boolean => call.tools?.some((tool) => tool.name === name) === true
    if (offers('generate_plan')) return [{ call: { name: 'generate_plan', input: {} } }]
    if (read === undefined) {
      if (!call.tools) return aside(call)
      if (offers('research_agent'))
        return [{ call: { name: 'research_agent', input: { task: `Find the figure of ${topicOf(call)}.` } } }]
      created = new Set()
      return [{ call: { name: 'internal_search', input: { queries: [topicOf(call)] } } }]
    }
    const calls = commandsIn(read, evil).filter((item) => !created.has(keyOf(item)))
    const only = /answer only with `([^`]+)`/i.exec(read)?.[1]
    if (only !== undefined && !created.has(only)) {
      created.add(only)
      return [only]
    }
    if (calls.length === 0 && offers('generate_report')) return [{ call: { name: 'generate_report', input: {} } }]
    if (calls.length === 0 || !call.tools) return [`The figure is 42 [1]. ${sayingsIn(read).join(' ')}`]
    const now = calls.slice(0, callsAtOnce)
    for (const item of now) created.add(keyOf(item))
    tried.push(...now)
    return [{ calls: now }]
  })
  const aside = (call: LanguageModelV4CallOptions): ScriptStep => {
    const text = questionOf(call)
    const received = /answer (\{.*\}|\[.*?\])/i.exec(text.replaceAll(String.raw`\"`, '"'))?.[1]
    const answer = received ?? JSON.stringify(commandsIn(text, evil))
    asides.push(answer)
    return [answer]
  }
  return { ...model, requests: model.requests, tried, asides }
}

function keyOf({ name, input }: ScriptedCall): string {
  return `${name} ${JSON.stringify(input)}`
}

function questionOf({ prompt }: LanguageModelV4CallOptions): string {
  const last = prompt.findLast(({ role }) => role === 'user')
  return last?.role === 'user' ? last.content.map((part) => (part.type === 'text' ? part.text : '')).join(' ') : ''
}

/** The person's request; a plan or a reminder may follow it. */
function topicOf({ prompt }: LanguageModelV4CallOptions): string {
  const request = prompt.filter(({ role }) => role === 'user').map(({ content }) => stringsIn(content))
  return /figure of (\w+)/.exec(request.join('\n'))?.[1] ?? 'nothing'
}

/** All text that results hold, titles and metadata too; undefined before there is one. */
function resultsOf({ prompt }: LanguageModelV4CallOptions): string | undefined {
  const texts = prompt.flatMap((message) =>
    message.role === 'tool'
      ? message.content.flatMap((part) =>
          part.type === 'tool-result' && 'value' in part.output ? [stringsIn(part.output.value)] : [],
        )
      : [],
  )
  return texts.length === 0 ? undefined : texts.join('\n')
}

function stringsIn(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, item]) => `${Array.isArray(value) ? '' : key} ${stringsIn(item)}`)
      .join('\n')
  }
  const text = String(value)
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? stringsIn(parsed) : text
  } catch {
    return text
  }
}

/** Every call that a text spells out, and one of each tool that it names. */
function commandsIn(text: string, evil: Readonly<Record<string, Readonly<Record<string, unknown>>>>): ScriptedCall[] {
  const spelled = objectsIn(text).flatMap((value): ScriptedCall[] => {
    const name = value['name'] ?? value['tool']
    const input = value['arguments'] ?? value['args'] ?? {}
    return typeof name === 'string' ? [{ name, input }] : []
  })
  const named = Object.keys(evil).filter((name) => text.includes(name))
  const inline = named.flatMap((name): ScriptedCall[] => {
    const at = text.indexOf(`${name}({`)
    const [input] = at === -1 ? [] : objectsIn(text.slice(at + name.length + 1))
    return input ? [{ name, input }] : []
  })
  return [...spelled, ...inline, ...named.map((name) => ({ name, input: evil[name] }))]
}

/** JSON objects anywhere in a text, outermost first. */
function objectsIn(text: string): Record<string, unknown>[] {
  const results: Record<string, unknown>[] = []
  for (let start = text.indexOf('{'); start !== -1; start = text.indexOf('{', start + 1)) {
    let depth = 0
    for (let at = start; at < Math.min(text.length, start + 2_000); at++) {
      if (text[at] === '{') depth++
      if (text[at] === '}' && --depth === 0) {
        try {
          results.push(JSON.parse(text.slice(start, at + 1)) as Record<string, unknown>)
        } catch {
          // Braces that hold something else.
        }
        break
      }
    }
  }
  return results
}

function sayingsIn(text: string): string[] {
  return [...text.matchAll(/(?:say|write|reply|answer)\s+"([^"]+)"/gi)].map((match) => match[1] ?? '')
}
