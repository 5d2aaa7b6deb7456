import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import { CitationFilter } from '../citations/citation-filter.ts'
import { promptTokens } from '../prompt/context-window.ts'
import { userMessage } from '../prompt/history.ts'
import type { AgentState, ResearchAgentOptions } from './agent-state.ts'
import { shortenTexts } from './dialogue.ts'
import { reportInstructions, reportRequest } from './prompts.ts'
import type { NumberedReport } from './references.ts'

/** Writes the report of an agent; its markers keep the numbers of the agent. */
export async function writeReport(options: ResearchAgentOptions, state: AgentState): Promise<NumberedReport> {
  const { model, branch } = options
  const { place, citable, signal } = state
  const { known } = citable
  const marked = new CitationFilter({ mode: 'keep', known })
  const comparison = model.compareCitations?.(citable)
  const citations = comparison?.complete(marked) ?? marked
  const write = (pieces: ReturnType<typeof citations.push>): void => {
    for (const piece of pieces) {
      if (piece.type !== 'text' || piece.content === '') continue
      if (state.report === '' && piece.content.trim() === '') continue
      if (state.report === '') branch.emit(place, { type: 'intermediate_report_start' })
      state.report += piece.content
      branch.emit(place, { type: 'intermediate_report_delta', content: piece.content })
    }
  }
  const packets = branch.openText(place, (delta) => write(citations.push(delta)))
  const shorten = (maxTokens: number): LanguageModelV4Prompt => reportPrompt(options, state, maxTokens)
  try {
    const played = await model.play({
      phase: 'report',
      prompt: shorten(Number.POSITIVE_INFINITY),
      shorten,
      reminder: [userMessage(`Instructions for this turn:\n${reportRequest}`)],
      listener: packets.listener,
      signal,
    })
    if (!played) throw new InlayError('BUDGET_EXCEEDED', { message: 'The budget of this research is used up.' })
    write(citations.end())
  } finally {
    packets.end()
  }
  const cited = citations.cited()
  state.cited = cited.flatMap(({ number }) => known(number) ?? [])
  return { text: state.report, cited, known, find: comparison?.find }
}

function reportPrompt(
  { task, now, cutResults, callId }: ResearchAgentOptions,
  { findings }: AgentState,
  maxTokens: number,
): LanguageModelV4Prompt {
  const frame: LanguageModelV4Prompt = [{ role: 'system', content: reportInstructions(now()) }, userMessage(task)]
  const texts = shortenTexts(
    findings.map(({ text }) => text),
    maxTokens - promptTokens(frame) - findings.length * 50,
  )
  cutResults.set(callId, findings.filter(({ text }, index) => text !== texts[index]).length)
  const [system, question] = frame
  const results = findings.map(({ action, input }, index) =>
    userMessage(`Context found by ${action} for ${JSON.stringify(input).slice(0, 80)}:\n${texts[index] ?? ''}`),
  )
  return [system, ...results, question].filter((message) => message !== undefined)
}
