import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider'
import { readCall, textOf, type Move, type Reading } from '../prompt.ts'
import { understand } from '../question.ts'
import { planResearch } from './plan.ts'
import { writeFinalReport, type ResearchReading } from './final.ts'
import { reportFindings } from './report.ts'

type Phase = 'clarify' | 'plan' | 'orchestrate' | 'agent' | 'report' | 'final'

const reportsMark = /^Reports of the research\b/

const call = (name: string, input: Record<string, unknown> = {}): Move => ({ calls: [{ name, input }] })

const moves: Readonly<Record<Phase, (reading: Reading, options: LanguageModelV4CallOptions) => Move>> = {
  // Whatever was asked, there is nothing it could ask back.
  clarify: () => call('generate_plan'),
  plan: ({ questions }) => ({
    say: planResearch(questions)
      .map((task, index) => `${index + 1}. ${task}`)
      .join('\n'),
  }),
  orchestrate: ({ questions, toolAnswers }) =>
    toolAnswers.length > 0
      ? call('generate_report')
      : { calls: planResearch(questions).map((task) => ({ name: 'research_agent', input: { task } })) },
  agent: searchOn,
  report: (reading) => ({ say: reportFindings(reading) }),
  final: (_reading, options) => finish(options),
}

/** One kind of search after the other, each once; then the report. */
function searchOn({ questions, tools, mustCall, toolNames }: Reading): Move {
  const searches = ['internal_search', 'web_search'].filter((name) => tools.has(name))
  const forced = mustCall !== undefined && mustCall !== 'any' ? mustCall : undefined
  const next = forced ?? searches.find((name) => !toolNames.has(name))
  if (next === undefined) return call('generate_report')
  return call(next, { queries: understand(questions.slice(-1)).queries })
}

function finish(options: LanguageModelV4CallOptions): Move {
  const isReports = (message: LanguageModelV4Message): boolean =>
    message.role === 'user' && reportsMark.test(textOf(message))
  const message = textOf(options.prompt.findLast(isReports) ?? { role: 'user', content: [] })
  const { questions } = readCall({ ...options, prompt: options.prompt.filter((message) => !isReports(message)) })
  return { say: writeFinalReport(questions, readReports(message, options)) }
}

function readReports(message: string, { prompt }: LanguageModelV4CallOptions): ResearchReading {
  const reports = [...message.matchAll(/<report>\n<task>([\s\S]*?)<\/task>\n([\s\S]*?)\n<\/report>/g)]
  const early = /ended early because ([^:.]+):/.exec(textOf(prompt.at(-1) ?? { role: 'user', content: [] }))?.[1]
  return {
    reports: reports.map(([, task = '', text = '']) => ({ task, text })),
    early,
  }
}

/** What the model does in a step of a deep research; undefined for steps it does not know. */
export function researchMove(phase: string, reading: Reading, options: LanguageModelV4CallOptions): Move | undefined {
  return Object.hasOwn(moves, phase) ? moves[phase as Phase](reading, options) : undefined
}
