import { extname } from 'node:path'
import { isInlayError, readableExtensions } from '@inlay/protocol'
import type { Inlay } from '../inlay.ts'
import { textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { withInlay } from './with-inlay.ts'
import { createReader, type Reader } from './source-document.ts'
import { findSourceFiles, type SourcePath } from './source-files.ts'

/** Result for a file; `unread` when the user interrupted before. */
type Outcome = 'new' | 'changed' | 'unchanged' | 'failed' | 'unread'

/** Files taken in at once: enough that many share one commit. */
const concurrency = 32
/** Time between two looks at the queue while documents become searchable. */
const pollMs = 200

/** Takes files in and waits until they are searchable. */
export const ingest: Command = {
  ...commandTable.ingest,
  details: [
    `Reads ${readableExtensions.join(', ')} in folders of any depth; hidden folders are left out.`,
    'A document is known by its path below the folder: run this again after changes.',
  ],
  words: [1, Number.POSITIVE_INFINITY],
  needs: 'the folder or the files to take in',
  options: {
    'base-url': {
      type: 'string',
      value: 'address',
      meaning: 'what the links of the documents begin with (default: their path)',
    },
    'no-wait': {
      type: 'boolean',
      meaning: 'end once all are accepted; a server on the same folder makes them searchable',
    },
  },
  async run(context) {
    const reader = await createReader(textOption(context, 'base-url'))
    try {
      context.output.note('Looking for files.')
      const skipped: string[] = []
      const files = await findSourceFiles(context.words, process.cwd(), (path) => void skipped.push(path))
      const skippedKinds = countKinds(skipped)
      if (skipped.length > 0) context.output.note(skippedLine(skipped.length, skippedKinds))
      if (files.length === 0) context.output.note('There is no file to read.')
      return await withInlay(context, (inlay) => takeIn(context, inlay, { files, skippedKinds }, reader))
    } finally {
      await reader.close()
    }
  },
}

async function takeIn(
  context: CommandContext,
  inlay: Inlay,
  { files, skippedKinds }: FoundFiles,
  reader: Reader,
): Promise<number> {
  const { output, signal, options } = context
  const outcomes = await acceptAll(context, inlay, files, reader)
  const accepted = files.filter((file) => outcomes.get(file) === 'new' || outcomes.get(file) === 'changed')
  if (options['no-wait'] !== true) {
    await waitUntilSearchable(context, inlay, accepted)
    for (const { file, reason } of await failedOf(inlay, accepted)) {
      outcomes.set(file, 'failed')
      output.note(`inlay: ${file.id}: ${reason}`)
    }
  }
  const count = (wanted: Outcome): number => [...outcomes.values()].filter((outcome) => outcome === wanted).length
  const summary = {
    new: count('new'),
    changed: count('changed'),
    unchanged: count('unchanged'),
    failed: count('failed'),
  }
  const unread = count('unread')
  if (output.isJson)
    output.json({ files: files.length, ...summary, skipped: skippedKinds, ...(unread > 0 && { unread }) })
  else if (files.length > 0) output.line(summaryLine(summary))
  if (signal.aborted) {
    output.note(remainder(unread, await waitingOf(inlay, accepted)))
    return 130
  }
  return summary.failed > 0 ? 1 : 0
}

/** The files of the folders and names that were given. */
interface FoundFiles {
  readonly files: readonly SourcePath[]
  /** How many files of each other kind were left out. */
  readonly skippedKinds: Readonly<Record<string, number>>
}

function countKinds(paths: readonly string[]): Record<string, number> {
  const kinds = Map.groupBy(paths, (path) => extname(path).toLowerCase() || 'without an ending')
  const counts = [...kinds].map(([kind, files]) => [kind, files.length] as const)
  return Object.fromEntries(counts.toSorted(([, left], [, right]) => right - left))
}

function skippedLine(count: number, kinds: Readonly<Record<string, number>>): string {
  const named = Object.entries(kinds).map(([kind, files]) => `${kind} (${files})`)
  const more = named.length > 10 ? ', …' : ''
  const files = count === 1 ? '1 file of a kind that is not read' : `${count} files of kinds that are not read`
  return `Skipped ${files}: ${named.slice(0, 10).join(', ')}${more}.`
}

/** Files left after an interruption, and how to continue. */
function remainder(unread: number, waiting: number): string {
  const files = (number: number): string => `${number} ${number === 1 ? 'file' : 'files'}`
  const sentences = ['Interrupted.']
  if (unread > 0)
    sentences.push(`${files(unread)} ${unread === 1 ? 'was' : 'were'} not read: run the same command again to go on.`)
  if (waiting > 0)
    sentences.push(
      `${files(waiting)} ${waiting === 1 ? 'is' : 'are'} taken in but not searchable yet: ` +
        'the next inlay serve or inlay ingest goes on with them.',
    )
  return sentences.join(' ')
}

/** How many of these documents are not searchable yet. */
async function waitingOf(inlay: Inlay, accepted: readonly SourcePath[]): Promise<number> {
  const { documents } = await inlay.knowledge.figures()
  return Math.min(documents.pending + documents.indexing, accepted.length)
}

function summaryLine(summary: Readonly<Record<string, number>>): string {
  return Object.entries(summary)
    .map(([name, number]) => `${number} ${name}`)
    .join(', ')
}

async function acceptAll(
  { output, signal }: CommandContext,
  inlay: Inlay,
  files: readonly SourcePath[],
  reader: Reader,
): Promise<Map<SourcePath, Outcome>> {
  const outcomes = new Map<SourcePath, Outcome>(files.map((file) => [file, 'unread']))
  if (files.length === 0) return outcomes
  const progress = output.progress('Reading', files.length)
  const queue = files.values()
  let done = 0
  async function work(): Promise<void> {
    for (const file of queue) {
      if (signal.aborted) return
      try {
        outcomes.set(file, await acceptOne(inlay, reader, file))
      } catch (error) {
        outcomes.set(file, 'failed')
        output.note(`inlay: ${file.id}: ${isInlayError(error) ? error.message : 'cannot be read.'}`)
        if (isInlayError(error) && error.status >= 500) throw error
      }
      progress.to(++done)
    }
  }
  try {
    await Promise.all(Array.from({ length: concurrency }, work))
  } finally {
    progress.end()
  }
  return outcomes
}

async function acceptOne(inlay: Inlay, reader: Reader, file: SourcePath): Promise<Outcome> {
  const request = await reader.read(file)
  const { alreadyExisted, isUnchanged } = await inlay.knowledge.accept(request)
  if (isUnchanged) return 'unchanged'
  return alreadyExisted ? 'changed' : 'new'
}

async function waitUntilSearchable(
  { output, signal }: CommandContext,
  inlay: Inlay,
  accepted: readonly SourcePath[],
): Promise<void> {
  if (accepted.length === 0) return
  const progress = output.progress('Making searchable', accepted.length)
  try {
    for (;;) {
      const { documents } = await inlay.knowledge.figures()
      const left = Math.min(documents.pending + documents.indexing, accepted.length)
      progress.to(accepted.length - left)
      // Other processes may have documents in the queue as well: ours are done once none of them waits.
      if (left === 0 || signal.aborted) return
      if (left < concurrency && !(await areWaiting(inlay, accepted))) return
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  } finally {
    progress.end()
  }
}

async function areWaiting(inlay: Inlay, files: readonly SourcePath[]): Promise<boolean> {
  for (const { id } of files) {
    const phase = (await inlay.knowledge.status(id))?.phase
    if (phase === 'pending' || phase === 'indexing') return true
  }
  return false
}

async function failedOf(
  inlay: Inlay,
  files: readonly SourcePath[],
): Promise<{ readonly file: SourcePath; readonly reason: string }[]> {
  const failed: { file: SourcePath; reason: string }[] = []
  for (const file of files) {
    const status = await inlay.knowledge.status(file.id)
    if (status?.phase === 'failed') failed.push({ file, reason: status.reason ?? 'it could not be indexed.' })
  }
  return failed
}
