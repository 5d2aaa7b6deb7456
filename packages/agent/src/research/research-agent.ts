import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { InlayError, isJsonObject, readJson } from '@inlay/protocol'
import { createCitableDocuments } from '../citations/citable-documents.ts'
import { runToolLoop } from '../model/tool-loop.ts'
import type { AnsweredCall, RequestedCall } from '../prompt/model-steps.ts'
import { untilAborted } from '@inlay/scheduling'
import { CallWriter } from '../packet-writer.ts'
import { promptTokens } from '../prompt/context-window.ts'
import { planCalls, toFunctionTools } from '../tool-calls/call-plan.ts'
import { runCall } from '../tool-calls/run-tool-calls.ts'
import { recordAgent, recordFailure, type AgentState, type ResearchAgentOptions } from './agent-state.ts'
import { userMessage } from '../prompt/history.ts'
import type { AnswerPlace, ThoughtPackets } from './branch.ts'
import { agentInstructions, demandCall } from './prompts.ts'
import type { NumberedReport } from './references.ts'
import { writeReport } from './report.ts'
import type { PlayedStep } from './step.ts'
import { reportTool, researchToolNames, thinkTool } from './tools.ts'

/** Outcome of an agent; a failure is text for the orchestrator. */
export type AgentOutcome = { readonly report: NumberedReport } | { readonly failure: string }

/** Failures become packets and an outcome; rejects only when the run was stopped. */
export async function runAgent(options: ResearchAgentOptions): Promise<AgentOutcome> {
  const { task, branch, setting, limits } = options
  const hard = new AbortController()
  const timer = setTimeout(() => hard.abort(tooLong(limits.agentHardTimeoutMs)), limits.agentHardTimeoutMs)
  const signal = AbortSignal.any([setting.signal, hard.signal])
  const place: AnswerPlace = { turn: options.turn, tab: options.tab, sub: null }
  const state: AgentState = {
    place,
    signal,
    citable: createCitableDocuments(),
    steps: 0,
    reasonedSteps: 0,
    searches: 0,
    thoughtsInRow: 0,
    wasDemanded: false,
    findings: [],
    children: [],
    report: '',
    cited: null,
  }
  branch.emit(place, { type: 'research_agent_start', research_task: task })
  const forget = branch.onClose(() => {
    branch.emit(place, { type: 'section_end' })
    recordAgent(options, state)
  })
  try {
    const report = await untilAborted(investigate(options, state), signal)
    forget()
    branch.emit(place, { type: 'intermediate_report_cited_docs', cited_docs: state.cited ?? [] })
    branch.emit(place, { type: 'section_end' })
    recordAgent(options, state)
    return { report }
  } catch (error) {
    if (setting.signal.aborted) throw error
    forget()
    branch.close()
    return { failure: recordFailure(options, state, error) }
  } finally {
    clearTimeout(timer)
  }
}

interface AgentStep extends PlayedStep {
  readonly thought: string
  readonly sub: number
}

async function investigate(options: ResearchAgentOptions, state: AgentState): Promise<NumberedReport> {
  const { limits, now, dueAt } = options
  const deadline = Math.min(now() + limits.agentTimeoutMs, dueAt)
  const mayGoOn = (): boolean =>
    state.searches < limits.maxAgentCycles && now() < deadline && state.thoughtsInRow <= 2 * limits.maxAgentCycles
  await runToolLoop<AgentStep>({
    play: async (exchanges) => (mayGoOn() ? playNext(options, state, exchanges) : undefined),
    run: async (calls, step, exchanges) => {
      state.steps++
      const call = calls.find(({ name }) => name !== researchToolNames.think)
      if (call?.name === researchToolNames.report) return undefined
      if (call && options.actions.some(({ name }) => name === call.name)) {
        state.thoughtsInRow = 0
        const same = calls.filter(({ name }) => name === call.name)
        return [await search(options, state, same, step, exchanges)]
      }
      if (calls.length > 0) {
        state.thoughtsInRow++
        return calls.map((other) => ({ ...other, result: resultOf(other.name) }))
      }
      // Earlier results are sufficient.
      if (state.wasDemanded || state.searches > 0) return undefined
      state.wasDemanded = true
      return []
    },
  })
  // A report without findings would state that nothing is known.
  if (state.children.length > 0 && state.children.every(({ failed }) => failed))
    throw new InlayError('SERVICE_UNAVAILABLE', { message: 'Every search of the research agent failed.' })
  return writeReport(options, state)
}

const resultOf = (name: string): string =>
  name === researchToolNames.think ? 'Noted.' : `There is no tool ${name}; use one that is offered.`

/** Plays the next step; undefined when the budget ends the search. */
async function playNext(
  { model, branch, actions, forced, task, limits, now }: ResearchAgentOptions,
  state: AgentState,
  exchanges: readonly LanguageModelV4Message[],
): Promise<AgentStep | undefined> {
  const sub = state.steps + state.reasonedSteps
  // A model that only thinks makes no progress.
  const canThink = !model.reasons && state.thoughtsInRow < 2
  const isForced = forced !== undefined && state.searches === 0
  const searches = actions.map(({ name }) => name)
  const thoughts = branch.openThoughts({ ...state.place, sub })
  try {
    const played = await model.play({
      phase: 'agent',
      prompt: [
        {
          role: 'system',
          content: agentInstructions(searches, !model.reasons, limits.maxAgentCycles, now()),
        },
        userMessage(task),
        ...exchanges,
      ],
      reminder: state.wasDemanded && state.searches === 0 ? [userMessage(demandCall)] : [],
      tools: [...toFunctionTools(actions), ...(canThink ? [thinkTool] : []), reportTool],
      choice: isForced ? { forced: forced.name } : 'required',
      listener: thoughts.listener,
      signal: state.signal,
    })
    if (!played) return undefined
    addUnstreamedThought(thoughts, played)
    const thought = thoughts.text()
    if (thought !== '') state.reasonedSteps++
    return { ...played, thought, sub: thought === '' ? sub : sub + 1 }
  } finally {
    thoughts.end()
  }
}

/** Adds the thought of a thinking tool call whose arguments did not stream. */
export function addUnstreamedThought(thoughts: ThoughtPackets, { calls }: PlayedStep): void {
  if (thoughts.usedTool()) return
  const texts = calls.filter(({ name }) => name === researchToolNames.think).map(({ input }) => thoughtIn(input))
  const reasoning = texts.filter((text) => text.trim() !== '').join('\n\n')
  if (reasoning !== '') thoughts.listener.onArguments(researchToolNames.think, { reasoning })
}

function thoughtIn(input: string): string {
  const value = readJson(input)
  const thought = isJsonObject(value) ? Object.values(value)[0] : undefined
  return typeof thought === 'string' ? thought : ''
}

const maxResultTokens = 6_000

/** Runs all queries of one search as a single call. */
async function search(
  { actions, branch, setting, task, model, callId, cycle }: ResearchAgentOptions,
  state: AgentState,
  calls: readonly RequestedCall[],
  step: AgentStep,
  exchanges: readonly LanguageModelV4Message[],
): Promise<AnsweredCall> {
  const { citable, signal } = state
  const first = calls[0] ?? { id: '', name: '', input: '' }
  const plan = planCalls(calls, new Map(actions.map((action) => [action.name, action])))
  const call = plan.calls[0]
  state.searches++
  if (!call) return { ...first, result: resultOf(first.name) }
  const place: AnswerPlace = { ...state.place, sub: step.sub }
  const at = { step: cycle, turnIndex: place.turn, tabIndex: place.tab, reasoning: step.thought || null }
  const writer = new CallWriter(at, (packet) => branch.emit(place, packet))
  const forget = branch.onClose(() => writer.end())
  const start = call.action.start?.()
  if (start) writer.emitNested(start, null)
  // More results will follow, and each step reads all of them again.
  const room = Math.floor((model.promptTokens - promptTokens(exchanges)) * 0.2)
  const resultTokens = Math.min(maxResultTokens, Math.max(500, room))
  const record = await runCall(
    { ...call, writer, range: citable.openStep()(0), resultTokens },
    {
      ...setting,
      turn: { ...setting.turn, userMessage: task, messages: [] },
      signal,
      onEnd: (detail) => setting.onEnd({ ...detail, sub_turn_index: step.sub }),
    },
  )
  forget()
  signal.throwIfAborted()
  state.children.push({ ...record, parentCallId: callId, ...(step.sub !== null && { subTurnIndex: step.sub }) })
  state.findings.push({ action: call.action.name, input: record.arguments, text: record.result })
  return { ...first, input: JSON.stringify(record.arguments), result: record.result }
}

function tooLong(timeoutMs: number): InlayError {
  const minutes = Math.max(1, Math.round(timeoutMs / 60_000))
  return new InlayError('GATEWAY_TIMEOUT', { message: `The research agent took longer than ${minutes} minutes.` })
}
