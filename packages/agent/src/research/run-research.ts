import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import type { CallSetting } from '../tool-calls/run-tool-calls.ts'
import { hasMarker } from '../citations/marker.ts'
import { userMessage } from '../prompt/history.ts'
import { estimateTokens, promptTokens } from '../prompt/context-window.ts'
import { askForClarification, makePlan } from './clarify-and-plan.ts'
import { createResearchBudget, type ResearchBudget } from './budget.ts'
import { newestMessages, shortenTexts, withInstructions } from './dialogue.ts'
import type { TokenPrice } from './limits.ts'
import type { ResearchSetting } from './agent-state.ts'
import { orchestrate, type Gathered } from './orchestrator.ts'
import { finalInstructions, finalRequest } from './prompts.ts'
import { createResearchModel, type ResearchModelOptions } from './step.ts'

export interface ResearchRun
  extends
    Omit<ResearchModelOptions, 'budget'>,
    Pick<ResearchSetting, 'actions' | 'forced' | 'limits' | 'now' | 'setting' | 'writer'> {
  /** Earlier messages and the newest user message, oldest first; their instructions are replaced. */
  readonly prompt: LanguageModelV4Prompt
  readonly price: TokenPrice | undefined
  /** Whether the previous answer asked for clarification. */
  readonly wasClarified: boolean
  /** When the run began, in milliseconds since 1970 UTC. */
  readonly startedAt: number
}

/** Throws the model's failure; a failed agent does not end the run. */
export async function runResearch(run: ResearchRun): Promise<void> {
  const { limits, price, progress } = run
  const budget = createResearchBudget({ tokens: limits.maxTokens, cost: limits.maxCost, price })
  const setting: ResearchSetting = {
    ...run,
    dueAt: run.startedAt + limits.timeoutMs,
    setting: { ...run.setting, turn: withinBudget(run.setting.turn, budget) },
    signal: run.setting.signal,
    budget,
    cutResults: new Map(),
    store: (records) => void progress.calls.push(...records),
    model: createResearchModel({ ...run, budget }),
  }
  const conversation = newestMessages(run.prompt)
  if (limits.clarifies && !run.wasClarified && (await askForClarification(setting, conversation))) return
  const gathered = await orchestrate(setting, await makePlan(setting, conversation), conversation)
  await writeAnswer(setting, run.prompt, gathered)
}

/** Counts questions of actions; they continue without an answer that the budget does not allow. */
function withinBudget(turn: CallSetting['turn'], budget: ResearchBudget): CallSetting['turn'] {
  const { ask } = turn
  if (!ask) return turn
  return {
    ...turn,
    ask: async (question) => {
      const prompt = estimateTokens(question.instructions + question.text)
      const allowance = budget.allow('research', prompt, question.answerTokens ?? 500)
      if (!allowance) throw new InlayError('BUDGET_EXCEEDED', { message: 'The budget of this research is used up.' })
      const answer = await ask(question)
      allowance.settle(prompt, estimateTokens(answer))
      return answer
    },
  }
}

async function writeAnswer(
  { model, writer, now, signal, cutResults }: ResearchSetting,
  prompt: LanguageModelV4Prompt,
  gathered: Gathered,
): Promise<void> {
  const { references, turn, thought } = gathered
  const { known, find } = references
  const comparison = model.compareCitations?.({ hasMarker: (text) => hasMarker(text, known), find, texts: [] })
  const packets = writer.openAnswer(turn, references.documents(), known, thought, comparison)
  let cutReports = 0
  const shorten = (maxTokens: number): LanguageModelV4Prompt => {
    const final = finalPrompt(prompt, gathered, now(), maxTokens)
    cutReports = final.cutReports
    return final.prompt
  }
  await model.play({
    phase: 'final',
    prompt: shorten(Number.POSITIVE_INFINITY),
    shorten,
    reminder: [userMessage(`Instructions for this turn:\n${finalRequest(gathered.early)}`)],
    listener: packets.listener,
    signal,
  })
  const results = [...cutResults.values()].reduce((sum, count) => sum + count, 0)
  const note = toCutNote({ model: model.name, reports: cutReports, results })
  if (note !== '') packets.listener.onText(note)
  packets.end()
}

/** Note for readers that the model could not read all results; "" when it could. */
function toCutNote(cut: { readonly model: string; readonly reports: number; readonly results: number }): string {
  if (cut.reports + cut.results === 0) return ''
  const parts = [
    ...(cut.results > 0 ? [`${cut.results} search ${cut.results === 1 ? 'result' : 'results'}`] : []),
    ...(cut.reports > 0 ? [`${cut.reports} interim ${cut.reports === 1 ? 'report' : 'reports'}`] : []),
  ]
  return `\n\n*${cut.model} takes too few tokens to read all that was found: parts of ${parts.join(' and ')} were left out.*`
}

function finalPrompt(
  prompt: LanguageModelV4Prompt,
  { reports, references }: Gathered,
  time: number,
  maxTokens: number,
): { readonly prompt: LanguageModelV4Prompt; readonly cutReports: number } {
  const conversation = withInstructions(finalInstructions(time), prompt)
  const sources = references.documents().map((document, index) => `[${index + 1}] ${document.semantic_identifier}`)
  const rest = promptTokens([...conversation, userMessage(sources.join('\n'))])
  const texts = shortenTexts(
    reports.map(({ text }) => text),
    // In a long conversation, old messages are dropped before the reports.
    Math.max(maxTokens - rest, maxTokens / 2) - reports.length * 60,
  )
  const blocks = reports.map(
    ({ task }, index) => `<report>\n<task>${escape(task)}</task>\n${escape(texts[index] ?? '')}\n</report>`,
  )
  const list = sources.length === 0 ? '' : `\n\n<sources>\n${sources.map(escape).join('\n')}\n</sources>`
  const all = blocks.length === 0 ? 'There are none: nothing was found out.' : blocks.join('\n\n')
  return {
    prompt: [...conversation, userMessage(`Reports of the research on this request:\n\n${all}${list}`)],
    cutReports: reports.filter(({ text }, index) => text !== texts[index]).length,
  }
}

/** Prevents a quotation from closing the report that it is part of. */
const escape = (text: string): string => text.replace(/<(\/?)(report|task|sources)>/gi, '‹$1$2›')
