import type { QuestionResult } from './evaluate.ts'

/** Figures of an evaluation; shares are 0 to 1, null if unknown. */
export interface EvaluationFigures {
  readonly questions: number
  readonly failed: number
  /** Share of the questions with known answers whose answer contains one. */
  readonly contains: number | null
  /** Share of the questions with known sources whose first citation is one. */
  readonly right_source: number | null
  /** Share of cited sentences that the cited texts support, by comparison of words. */
  readonly citation_precision: number | null
  /** Same, judged by a model. */
  readonly citation_precision_by_model: number | null
  /** Share of the absent questions that were answered without a citation. */
  readonly refused: number | null
  /** Share of the other questions that were answered without a citation. */
  readonly uncited: number | null
  /** Medians per question. */
  readonly words: number | null
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  /** Means per question. */
  readonly tool_calls: number | null
  readonly ms_median: number | null
  readonly ms_p95: number | null
}

/** Output of `inlay eval --json`, and input of `--against-report`. */
export interface EvaluationReport {
  readonly name: string
  /** Figures of the questions that are not tuned; of all questions if all are tuned. */
  readonly figures: EvaluationFigures
  /** Figures of the untuned and of the tuned questions; absent if there are none of that kind, or no tuned ones. */
  readonly untuned?: EvaluationFigures
  readonly tuned?: EvaluationFigures
  readonly results: readonly QuestionResult[]
}

/** Tuned questions are separate and never count in `figures`, since other questions get worse answers. */
export function toReport(name: string, results: readonly QuestionResult[]): EvaluationReport {
  const [tuned, untuned] = [results.filter(({ isTuned }) => isTuned), results.filter(({ isTuned }) => !isTuned)]
  return {
    name,
    figures: toFigures(untuned.length > 0 ? untuned : results),
    ...(tuned.length > 0 && {
      ...(untuned.length > 0 && { untuned: toFigures(untuned) }),
      tuned: toFigures(tuned),
    }),
    results,
  }
}

export function toFigures(results: readonly QuestionResult[]): EvaluationFigures {
  const answered = results.filter(({ error }) => error === null)
  const absent = results.filter(({ isAbsent }) => isAbsent)
  const present = answered.filter(({ isAbsent }) => !isAbsent)
  const sum = (of: (result: QuestionResult) => number): number => answered.reduce((total, item) => total + of(item), 0)
  const cited = sum(({ citedSentences }) => citedSentences)
  const isJudged = answered.some(({ supportedByModel }) => supportedByModel !== undefined)
  const times = answered.map(({ ms }) => ms)
  return {
    questions: results.length,
    failed: results.length - answered.length,
    contains: share(results, ({ contains }) => contains),
    right_source: share(results, ({ rightSource }) => rightSource),
    citation_precision: cited === 0 ? null : sum(({ supportedByWords }) => supportedByWords) / cited,
    citation_precision_by_model:
      cited === 0 || !isJudged ? null : sum(({ supportedByModel = 0 }) => supportedByModel) / cited,
    refused: share(absent, ({ error, isUncited }) => error === null && isUncited),
    uncited: share(present, ({ isUncited }) => isUncited),
    words: quantile(
      answered.map(({ words }) => words),
      0.5,
    ),
    input_tokens: quantile(
      answered.flatMap(({ inputTokens }) => inputTokens ?? []),
      0.5,
    ),
    output_tokens: quantile(
      answered.flatMap(({ outputTokens }) => outputTokens ?? []),
      0.5,
    ),
    tool_calls: answered.length === 0 ? null : sum(({ toolCalls }) => toolCalls) / answered.length,
    ms_median: quantile(times, 0.5),
    ms_p95: quantile(times, 0.95),
  }
}

function share(results: readonly QuestionResult[], of: (result: QuestionResult) => boolean | undefined): number | null {
  const known = results.map(of).filter((value) => value !== undefined)
  return known.length === 0 ? null : known.filter(Boolean).length / known.length
}

function quantile(values: readonly number[], at: number): number | null {
  if (values.length === 0) return null
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * at))]!
}

const rows: readonly (readonly [keyof EvaluationFigures, string, 'share' | 'count' | 'mean' | 'ms'])[] = [
  ['questions', 'questions', 'count'],
  ['failed', 'failed', 'count'],
  ['contains', 'answer contains', 'share'],
  ['right_source', 'right source first', 'share'],
  ['citation_precision', 'citations right, by words', 'share'],
  ['citation_precision_by_model', 'citations right, by a model', 'share'],
  ['refused', 'refused when absent', 'share'],
  ['uncited', 'uncited when not', 'share'],
  ['words', 'words, median', 'count'],
  ['input_tokens', 'tokens read, median', 'count'],
  ['output_tokens', 'tokens written, median', 'count'],
  ['tool_calls', 'tool calls, mean', 'mean'],
  ['ms_median', 'time, median', 'ms'],
  ['ms_p95', 'time, 95th percentile', 'ms'],
]

/** Evaluations in columns, tuned questions apart; figures without any value are left out. */
export function toTable(reports: readonly EvaluationReport[]): string[] {
  const columns = reports.flatMap(({ name, figures, untuned, tuned }) => {
    if (!tuned) return [{ name, figures }]
    const known = [{ name: `${name}, tuned`, figures: tuned }]
    return untuned ? [{ name: `${name}, untuned`, figures: untuned }, ...known] : known
  })
  const known = rows.filter(([key]) => columns.some(({ figures }) => figures[key] !== null))
  const cells = [
    ['', ...columns.map(({ name }) => name)],
    ...known.map(([key, label, kind]) => [label, ...columns.map(({ figures }) => show(figures[key], kind))]),
  ]
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  return cells.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd(),
  )
}

function show(value: number | null, kind: 'share' | 'count' | 'mean' | 'ms'): string {
  if (value === null) return '–'
  if (kind === 'share') return value.toFixed(3)
  if (kind === 'mean') return value.toFixed(1)
  return kind === 'ms' ? `${(value / 1000).toFixed(1)} s` : String(Math.round(value))
}

/** One line per evaluation with failures: their number and the first reason. */
export function failureLines(reports: readonly EvaluationReport[]): string[] {
  return reports.flatMap(({ name, results }) => {
    const failed = results.filter(({ error }) => error !== null)
    return failed[0] ? ['', `${name}: ${failed.length} of ${results.length} failed. The first: ${failed[0].error}`] : []
  })
}

/** Describes the fault of a result; undefined if there is none. */
export function faultOf({ error, contains, rightSource, isAbsent, isUncited }: QuestionResult): string | undefined {
  if (error !== null) return error
  if (isAbsent) return isUncited ? undefined : 'It has citations, although the documents contain no answer.'
  const faults = [contains === false ? 'no known answer' : '', rightSource === false ? 'another source first' : '']
  const named = faults.filter((fault) => fault !== '')
  return named.length === 0 ? undefined : `It has ${named.join(', ')}.`
}
