import { isInlayError } from '@inlay/protocol'
import type { Inlay } from '../inlay.ts'
import { textOption, type Command, type CommandContext } from './command.ts'
import { withInlay } from './opened.ts'
import { createReader, type Reader } from './source-document.ts'
import { findSourceFiles, readableExtensions, type SourcePath } from './source-files.ts'

/** What came of a file. */
type Outcome = 'new' | 'changed' | 'unchanged' | 'failed' | 'left'

/** Files on their way at once: enough that many share one commit. */
const together = 32
/** How often the queue is looked at while documents become searchable. */
const lookMs = 200

/** Takes files in and waits until they are searchable. */
export const ingest: Command = {
  usage: 'ingest <folder or file…>',
  summary: 'take in files and keep them in step; unchanged ones are skipped',
  details: [
    `Reads ${readableExtensions.join(', ')} in folders of any depth; hidden folders are left out.`,
    'A document is known by its path below the folder: run this again after changes.',
  ],
  words: [1, Number.POSITIVE_INFINITY],
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
    const files = await findSourceFiles(context.words)
    const reader = await createReader(textOption(context, 'base-url'))
    try {
      return await withInlay(context, (inlay) => takeIn(context, inlay, files, reader))
    } finally {
      await reader.close()
    }
  },
}

async function takeIn(
  context: CommandContext,
  inlay: Inlay,
  files: readonly SourcePath[],
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
  if (output.isJson) output.json({ files: files.length, ...summary })
  else if (files.length === 0) output.note('There is no file to read.')
  else output.line(summaryLine(summary))
  if (signal.aborted) return 130
  return summary.failed > 0 ? 1 : 0
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
  const outcomes = new Map<SourcePath, Outcome>(files.map((file) => [file, 'left']))
  const progress = output.progress('Reading', files.length)
  const waiting = files.values()
  let done = 0
  async function work(): Promise<void> {
    for (const file of waiting) {
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
    await Promise.all(Array.from({ length: together }, work))
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
      // Documents of others may wait as well: ours are done when nothing is, or when none of ours is.
      if (left === 0 || signal.aborted) return
      if (left < together && !(await areWaiting(inlay, accepted))) return
      await new Promise((resolve) => setTimeout(resolve, lookMs))
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
