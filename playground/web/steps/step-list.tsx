import type { Block, SearchDoc, ToolBlock } from '@inlay/protocol'
import type { JSX } from 'preact'
import { ChevronIcon } from '../controls/icons.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import type { Service } from '../service/service.ts'
import { hasResult, GeneratedFiles, ToolResult } from './tool-result.tsx'

interface StepListProps {
  readonly steps: readonly Block[]
  readonly isWaiting: boolean
  readonly readFile: Service['file']
}

/** What was done for an answer, as it happens: one line a step, which opens to its documents, text or failure. */
export function StepList({ steps, isWaiting, readFile }: StepListProps): JSX.Element | null {
  const isBetween = isWaiting && !steps.some(isRunning)
  if (steps.length === 0 && !isBetween) return null
  return (
    <ol class="steps" aria-label="Steps">
      {steps.map((step, at) => (
        <StepLine key={at} step={step} readFile={readFile} />
      ))}
      {isBetween && (
        <li class="step running">
          <span class="step-line">
            <span class="dot" />
            {steps.length === 0 ? 'Reading the question' : 'Writing the answer'}
          </span>
        </li>
      )}
    </ol>
  )
}

function isRunning(step: Block): boolean {
  return 'progress' in step ? step.progress === 'running' || step.progress === 'writing' : !step.isDone
}

function StepLine({ step, readFile }: { step: Block; readFile: Service['file'] }): JSX.Element {
  const failure = 'failure' in step ? step.failure : null
  const state = failure !== null ? 'failed' : isRunning(step) ? 'running' : 'finished'
  const classes = `step ${state}${step.placement.sub_turn_index === null ? '' : ' nested'}`
  if (step.kind === 'text')
    return (
      <li class={`${classes} note`}>
        <Markdown text={step.text} />
      </li>
    )
  const detail = detailOf(step)
  const line = (
    <>
      <span class="dot" />
      <span class="step-words">
        <span class="step-title">
          <span>{titleOf(step)}</span>
          {detail !== null && <ChevronIcon />}
        </span>
        {queriesOf(step).map((query, at) => (
          <q key={at} class="query">
            {query}
          </q>
        ))}
      </span>
    </>
  )
  return (
    <li class={classes}>
      {detail === null ? (
        <span class="step-line">{line}</span>
      ) : (
        <details>
          <summary class="step-line">{line}</summary>
          <div class="step-detail">
            {failure !== null && <p class="failure-words">{failure.exception}</p>}
            {detail}
          </div>
        </details>
      )}
      {step.kind === 'tool' && <GeneratedFiles step={step} readFile={readFile} />}
    </li>
  )
}

/** What a step opens to; null when its line says all. */
function detailOf(step: Exclude<Block, { kind: 'text' }>): JSX.Element | null {
  switch (step.kind) {
    case 'reasoning':
    case 'plan':
      return step.text.trim() === '' ? null : <Markdown text={step.text} />
    case 'research':
      return step.report === '' ? null : <Markdown text={step.report} />
    case 'tool': {
      if (step.documents !== null && step.documents.length > 0) return <Titles documents={step.documents} />
      if (hasResult(step)) return <ToolResult step={step} />
      return step.failure === null ? null : <></>
    }
  }
}

function Titles({ documents }: { documents: readonly SearchDoc[] }): JSX.Element {
  return (
    <ul class="step-documents">
      {distinctTitles(documents).map((title) => (
        <li key={title}>{title}</li>
      ))}
    </ul>
  )
}

function queriesOf(step: Block): readonly string[] {
  if (step.kind !== 'tool') return []
  const named = step.arguments.queries ?? step.arguments.urls
  return Array.isArray(named) ? named.filter((query): query is string => typeof query === 'string') : []
}

function titleOf(step: Exclude<Block, { kind: 'text' }>): string {
  const isNow = isRunning(step)
  switch (step.kind) {
    case 'reasoning':
      return isNow ? 'Thinking' : 'Reasoning'
    case 'plan':
      return isNow ? 'Making a plan' : 'Made a plan'
    case 'research':
      return `${isNow ? 'Researching' : 'Researched'}: ${step.task}`
    case 'tool':
      return toolTitle(step, isNow)
  }
}

/** What each built-in action is called while it runs and afterwards; others go by their own name. */
const toolTitles: Readonly<Record<string, readonly [string, string]>> = {
  open_url: ['Reading pages', 'Read pages'],
  generate_image: ['Making an image', 'Made an image'],
  run_python: ['Running Python', 'Ran Python'],
  read_file: ['Reading a file', 'Read part of a file'],
  add_memory: ['Remembering', 'Remembered'],
}

function toolTitle(step: ToolBlock, isNow: boolean): string {
  if (step.toolName === 'internal_search') return searchTitle(step, isNow, 'your documents')
  if (step.toolName === 'web_search') return searchTitle(step, isNow, 'the web')
  const known = Object.hasOwn(toolTitles, step.toolName) ? toolTitles[step.toolName] : undefined
  if (known !== undefined) return `${isNow ? known[0] : known[1]}${objectOf(step)}`
  return `${isNow ? 'Using' : 'Used'} ${step.toolName}`
}

/** What a built-in action was about, where that is short enough to stand in its line. */
function objectOf({ toolName, data }: ToolBlock): string {
  if (typeof data !== 'object' || data === null) return ''
  const named = toolName === 'read_file' ? Reflect.get(data, 'file_name') : undefined
  return typeof named === 'string' ? `: ${named}` : ''
}

function searchTitle(step: ToolBlock, isNow: boolean, where: string): string {
  if (isNow) return `Searching ${where}`
  if (step.progress === 'stopped') return `Search of ${where} was stopped`
  const count = new Set((step.documents ?? []).map((document) => document.document_id)).size
  if (count === 0) return `Found nothing in ${where}`
  return `Searched ${where}, ${count} found`
}

const distinctTitles = (documents: readonly SearchDoc[]): readonly string[] => [
  ...new Set(documents.map((document) => document.semantic_identifier)),
]
