import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider'
import type { ScriptPart, ScriptStep } from '@inlay/agent/testing'
import type { ConversationsOptions } from '@inlay/conversations'
import type { ResearchPhase } from '@inlay/agent/internal/research/step'
import type { SearchDoc, SendMessageInput, StreamLine } from '@inlay/protocol'
import { inShort, newDoc, newSetting, type Setting } from '../setting.ts'
import { scriptedAction, type ScriptedAction } from '../scripted-action.ts'

/** One call of the model, identified by its phase. */
export interface PhaseCall {
  readonly phase: ResearchPhase
  /** The task of an agent; "" in phases without one. */
  readonly task: string
  /** How often this phase was called before, of agents for the same task. */
  readonly index: number
  readonly call: LanguageModelV4CallOptions
}

/** How a model answers in each phase; undefined: as in a plain research run. */
export type Brain = Partial<Record<ResearchPhase, (call: PhaseCall) => ScriptStep | undefined>>

export const textOf = (message: LanguageModelV4Message | undefined): string => {
  if (message === undefined) return ''
  if (typeof message.content === 'string') return message.content
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

/** The phase of a call, recognised by the offered tools and the prompt, as a model would. */
export function phaseOf({ tools = [], prompt }: LanguageModelV4CallOptions): ResearchPhase {
  const offered = new Set(tools.map(({ name }) => name))
  if (offered.has('generate_plan')) return 'clarify'
  if (offered.has('research_agent')) return 'orchestrate'
  if (offered.size > 0) return 'agent'
  const system = textOf(prompt[0])
  if (system.startsWith('You plan')) return 'plan'
  return system.startsWith('You write the report of a research agent') ? 'report' : 'final'
}

/** The task an agent was given. */
function taskOf(phase: ResearchPhase, prompt: readonly LanguageModelV4Message[]): string {
  if (phase !== 'agent' && phase !== 'report') return ''
  const texts = prompt.filter(({ role }) => role === 'user').map(textOf)
  return texts.find((text) => !/^(?:Context|Instructions)/.test(text)) ?? ''
}

export const calls = (...list: readonly (readonly [string, unknown?])[]): ScriptPart => ({
  calls: list.map(([name, input = {}]) => ({ name, input, pieces: 1 })),
})

/** Two tasks, a search each, reports of one sentence, a final report that cites both. */
const plain: Required<Brain> = {
  clarify: () => [calls(['generate_plan'])],
  plan: () => ['1. One\n', '2. Two'],
  orchestrate: ({ index }) =>
    index === 0
      ? [calls(['research_agent', { task: 'Find one.' }], ['research_agent', { task: 'Find two.' }])]
      : [calls(['generate_report'])],
  agent: ({ index, task }) =>
    index === 0 ? [calls(['internal_search', { queries: [task] }])] : [calls(['generate_report'])],
  report: ({ task }) => [`Report on ${task} `, '[1].'],
  final: () => ['Both are known ', '[1]', '[2].'],
}

/** A script of a model that acts by phase. */
export function brainScript(brain: Brain): (call: LanguageModelV4CallOptions) => ScriptStep {
  const counts = new Map<string, number>()
  return (call) => {
    const phase = phaseOf(call)
    const task = taskOf(phase, call.prompt)
    const key = `${phase} ${task}`
    const index = counts.get(key) ?? 0
    counts.set(key, index + 1)
    const step = { phase, task, index, call }
    return brain[phase]?.(step) ?? plain[phase](step) ?? []
  }
}

/** A search that finds one document for each query, named after it. */
export function namedSearch(more: { readonly pause?: () => Promise<unknown> } = {}): ScriptedAction {
  return scriptedAction({
    id: 1,
    name: 'internal_search',
    builtIn: 'SearchTool',
    mergeArgument: 'queries',
    start: { type: 'search_tool_start', is_internet_search: false },
    result: async ({ queries }, turn) => {
      const wanted = Array.isArray(queries) ? queries.map(String) : []
      turn.emit({ type: 'search_tool_queries_delta', queries: wanted })
      await more.pause?.()
      const documents: SearchDoc[] = wanted.map((query) => newDoc(`about ${query.toLowerCase()}`))
      if (documents.length > 0) turn.emit({ type: 'search_tool_documents_delta', documents })
      const results = turn
        .cite(documents)
        .map((document, at) => ({ document, title: wanted[at], content: `On ${wanted[at]}.` }))
      return { text: JSON.stringify({ results }), documents, foundDocuments: documents }
    },
  })
}

/** An agent whose model acts by phase. */
export async function newResearch(brain: Brain = {}, options: Partial<ConversationsOptions> = {}): Promise<Setting> {
  return newSetting(brainScript(brain), { actions: [namedSearch()], ...options })
}

/** A request for deep research. */
export const asking: Partial<SendMessageInput> = { deep_research: true }

/** Packets in short, with the step of an agent behind its tab. */
export const packetNames = (lines: readonly StreamLine[]): string[] =>
  lines.flatMap((line) => {
    if (!('obj' in line)) return []
    const sub = line.placement.sub_turn_index
    return [sub === null ? inShort(line) : inShort(line).replace(' ', `.${sub} `)]
  })

/** One search, then the report. */
export const onlySearch: Brain['agent'] = ({ index, task }) =>
  index === 0 ? [calls(['internal_search', { queries: [task] }])] : [calls(['generate_report'])]
/** A round that assigns one task, or ends. */
export const onlyOne = (isFirst: boolean): ScriptStep => [
  isFirst ? calls(['research_agent', { task: 'Find one.' }]) : calls(['generate_report']),
]

/** The lines of a run by now. */
export async function snapshot(run: {
  read(cursor: number, signal: AbortSignal): AsyncIterable<readonly { json: string }[]>
}): Promise<string[]> {
  const signal = AbortSignal.timeout(5)
  const lines: string[] = []
  for await (const entries of run.read(0, signal)) lines.push(...entries.map(({ json }) => json))
  return lines
}
