import { isJsonObject, type Block, type SearchDoc, type ToolBlock } from '@inlay/protocol'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../controls/icons.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { Report, type AnswerSources } from './report.tsx'
import { StepIcon } from './step-icon.tsx'
import { waitingLabel } from './waiting-label.ts'
import type { Service } from '../service/service.ts'
import { texts } from '../texts/texts.ts'
import { hasResult, GeneratedFiles, ToolResult } from './tool-result.tsx'

interface StepListProps {
  readonly steps: readonly Block[]
  /** Queries that say the same are not shown again. */
  readonly question: string
  readonly isWaiting: boolean
  readonly sources: AnswerSources
  readonly readFile: Service['file']
}

export function StepList({ steps, question, isWaiting, sources, readFile }: StepListProps) {
  const isBetween = isWaiting && !steps.some(isRunning)
  if (steps.length === 0 && !isBetween) return null
  return (
    <ol class="steps u-grid u-gap-6 u-one-column u-muted" aria-label={texts.steps.title}>
      {steps.map((step, at) => (
        <StepLine key={at} step={step} question={question} sources={sources} readFile={readFile} />
      ))}
      {isBetween && (
        <li class="step running">
          <span class="step-line u-flex u-gap-8">
            <span class="dot" />
            <Waiting label={steps.length === 0 ? texts.steps.readingQuestion : texts.steps.writingAnswer} />
          </span>
        </li>
      )}
    </ol>
  )
}

/** The current activity; after a while it says that the model is slow, since a busy provider may take a minute. */
function Waiting({ label }: { label: string }) {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setSeconds((passed) => passed + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  return <>{waitingLabel(label, seconds)}</>
}

function isRunning(step: Block): boolean {
  return 'progress' in step ? step.progress === 'running' || step.progress === 'writing' : !step.isDone
}

function StepLine({ step, question, sources, readFile }: Omit<StepListProps, 'steps' | 'isWaiting'> & { step: Block }) {
  const failure = 'failure' in step ? step.failure : null
  const state = failure !== null ? 'failed' : isRunning(step) ? 'running' : 'finished'
  const classes = `step ${state}${step.placement.sub_turn_index === null ? '' : ' nested'}`
  if (step.kind === 'text')
    return (
      <li class={`${classes} note`}>
        <Markdown text={step.text} />
      </li>
    )
  const detail = detailOf(step, sources)
  const line = (
    <>
      <StepIcon step={step} />
      <span class="step-words u-flex u-wrap u-min-0 u-baseline">
        <span class="step-title u-inline-flex u-center u-min-0 u-anywhere">
          <span>{titleOf(step)}</span>
          {detail !== null && <Icon name="chevron" />}
        </span>
        {otherQueries(step, question).map((query, at) => (
          <q key={at} class="query u-note u-anywhere u-round-8 u-raised">
            {query}
          </q>
        ))}
      </span>
    </>
  )
  return (
    <li class={classes}>
      {detail === null ? (
        <span class="step-line u-flex u-gap-8">{line}</span>
      ) : (
        <details>
          <summary class="step-line u-flex u-gap-8">{line}</summary>
          <div class="step-detail u-small">
            {failure !== null && <p class="failure-words">{failure.exception}</p>}
            {detail}
          </div>
        </details>
      )}
      {step.kind === 'tool' && <GeneratedFiles step={step} readFile={readFile} />}
    </li>
  )
}

/** Details of a step; null if it has none beyond its line. */
function detailOf(step: Exclude<Block, { kind: 'text' }>, sources: AnswerSources) {
  switch (step.kind) {
    case 'reasoning':
    case 'plan':
      return step.text.trim() === '' ? null : <Markdown text={step.text} />
    case 'research':
      return step.report === '' ? null : <Report step={step} sources={sources} />
    case 'tool': {
      if (step.documents !== null && step.documents.length > 0) return <Titles documents={step.documents} />
      if (hasResult(step)) return <ToolResult step={step} />
      return step.failure === null ? null : <></>
    }
  }
}

function Titles({ documents }: { documents: readonly SearchDoc[] }) {
  return (
    <ul class="step-documents u-grid u-gap-2 u-one-column u-anywhere">
      {[...new Set(documents.map(({ semantic_identifier: title }) => title))].map((title) => (
        <li key={title}>{title}</li>
      ))}
    </ul>
  )
}

function otherQueries(step: Block, question: string): readonly string[] {
  const plain = (words: string): string =>
    words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()
  const named = step.kind === 'tool' && (step.arguments.queries ?? step.arguments.urls)
  if (!Array.isArray(named)) return []
  return named.filter((query) => typeof query === 'string' && plain(query) !== plain(question))
}

function titleOf(step: Exclude<Block, { kind: 'text' }>): string {
  const isNow = isRunning(step)
  switch (step.kind) {
    case 'reasoning':
      return isNow ? texts.steps.thinking : texts.steps.reasoning
    case 'plan':
      return isNow ? texts.steps.planning : texts.steps.planned
    case 'research':
      if (isNow) return texts.steps.researching(step.task)
      return step.progress === 'stopped' ? texts.steps.researchStopped(step.task) : texts.steps.researched(step.task)
    case 'tool':
      return toolTitle(step, isNow)
  }
}

const actionWords = (words: typeof texts.steps): ReadonlyMap<string, readonly [string, string]> =>
  new Map([
    ['open_url', [words.openingPages, words.openedPages]],
    ['generate_image', [words.makingImage, words.madeImage]],
    ['run_python', [words.runningPython, words.ranPython]],
    ['read_file', [words.readingFile, words.readFile]],
    ['add_memory', [words.remembering, words.remembered]],
  ])

function toolTitle(step: ToolBlock, isNow: boolean): string {
  const words = texts.steps
  const { approvalRequest, approvalResponse } = step
  if (approvalRequest) return words.askedFor(approvalRequest.display_name)
  if (approvalResponse?.approved === false) return words.declined(step.toolName)
  if (step.toolName === 'internal_search')
    return searchTitle(step, isNow, {
      now: words.searchingDocuments,
      stopped: words.documentSearchStopped,
      nothing: words.noDocumentsFound,
      found: words.documentsFound,
    })
  if (step.toolName === 'web_search')
    return searchTitle(step, isNow, {
      now: words.searchingWeb,
      stopped: words.webSearchStopped,
      nothing: words.nothingOnWeb,
      found: words.foundOnWeb,
    })
  const known = actionWords(words).get(step.toolName)
  if (known !== undefined) return `${isNow ? known[0] : known[1]}${objectOf(step)}`
  return isNow ? words.using(step.toolName) : words.used(step.toolName)
}

function objectOf({ toolName, data }: ToolBlock): string {
  const named = toolName === 'read_file' && isJsonObject(data) ? data['file_name'] : undefined
  return typeof named === 'string' ? `: ${named}` : ''
}

function searchTitle(
  step: ToolBlock,
  isNow: boolean,
  words: { now: string; stopped: string; nothing: string; found: (count: number) => string },
): string {
  if (isNow) return words.now
  if (step.progress === 'stopped') return words.stopped
  const count = new Set((step.documents ?? []).map((document) => document.document_id)).size
  return count === 0 ? words.nothing : words.found(count)
}
