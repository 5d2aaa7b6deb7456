import { understand } from '../question.ts'
import { arrange, blocksOf, createMemory, isProse, newBlocks } from './text.ts'
import { stem, wordsOf } from '@inlay/text'

/** A report as the writer of the final one reads it. */
export interface TaskReport {
  readonly task: string
  readonly text: string
}

/** What the writer of a final report is given. */
export interface ResearchReading {
  readonly reports: readonly TaskReport[]
  /** Why the research ended early, in words; undefined when it did not. */
  readonly early: string | undefined
}

const leadLimit = 600

/** How much of what was asked for a task speaks of. */
function fit(task: string, terms: ReadonlyMap<string, number>): number {
  const words = new Set(wordsOf(task).map(stem))
  return [...terms].reduce((sum, [term, weight]) => sum + (words.has(term) ? weight : 0), 0) - words.size / 100
}

/** The first words of those reports that come nearest to the question: each begins with its answer. */
function leadOf(questions: readonly string[], reports: readonly TaskReport[]): string {
  const { terms } = understand(questions)
  const nearest = reports.toSorted((first, second) => fit(second.task, terms) - fit(first.task, terms)).slice(0, 2)
  const blocks = reports
    .filter((report) => nearest.includes(report))
    .flatMap(({ text }) => blocksOf(text).filter(isProse).slice(0, 1))
  let length = 0
  return blocks.filter((block, at) => at === 0 || (length += block.length) < leadLimit).join('\n\n')
}

/** Writes the final report: what answers best in short, then what was found for each question. */
export function writeFinalReport(questions: readonly string[], { reports, early }: ResearchReading): string {
  const filled = reports.filter(({ text }) => /\s\[\d+\]/.test(text))
  const empty = reports.filter((report) => !filled.includes(report))
  const ending = early === undefined ? '' : `The research was ended early because ${early}; more may be found.`
  if (filled.length === 0) {
    const hasFailed = reports.some(({ text }) => text.startsWith('The research agent failed'))
    const nothing = hasFailed
      ? 'The search failed, so I could not find anything out. Please try again in a while.'
      : 'I found nothing about this in the documents. Other words may help, or the documents do not cover it.'
    return ending === '' ? nothing : `${nothing}\n\n${ending}`
  }
  const memory = createMemory()
  const lead = arrange(newBlocks(leadOf(questions, filled), memory)).join('\n\n')
  const sections = filled.flatMap(({ task, text }) => {
    const blocks = arrange(newBlocks(text, memory))
    return blocks.length === 0 ? [] : [`## ${task}\n\n${blocks.join('\n\n')}`]
  })
  const missing =
    empty.length === 0
      ? ''
      : `Nothing was found on: ${empty.map(({ task }) => task.replace(/(?<![?.])[?.]+$/, '')).join('; ')}.`
  return [lead, ...sections, missing, ending].filter((part) => part !== '').join('\n\n')
}
