import { extname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Egress } from '@inlay/drivers/egress'
import type { ImageReader } from '@inlay/knowledge'
import {
  describeUnread,
  isInlayError,
  metadataEntries,
  readableExtensions,
  unreadPartsOf,
  type InlayError,
} from '@inlay/protocol'
import { misuse, textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { intakeOf, type Acceptance, type Intake } from './intake.ts'
import type { Progress } from './output.ts'
import { withService } from './service.ts'
import type { Reader, Source } from './source-document.ts'
import { adviceForExtensions, expandPatterns, findSourceFiles, foldersOf } from './source-files.ts'
import { plain } from './terminal-markdown.ts'
import { watchFolders, type FolderChanges } from './watch-folders.ts'
import { flag, option } from './shared-options.ts'

/** Result for a document; `unread` when the user interrupted before, `excluded` for a page that asks not to be indexed. */
type Outcome = Acceptance | 'failed' | 'unread' | 'excluded'

/** Concurrent uploads: enough that many documents share a commit. */
const concurrency = 32
const pollMs = 200

/** Interval of further attempts while a server is away from a watched folder. */
const retryMs = 2000

export const ingest: Command = {
  ...commandTable.ingest,
  details: [
    `Reads ${readableExtensions.join(', ')} in folders of any depth; hidden folders are skipped.`,
    'A document is identified by its path in the folder, a page by its URL: run this again after changes.',
    'Also accepts quoted patterns ("docs/**/*.md"), URLs, sitemaps (https://example.com/sitemap.xml) and robots.txt.',
    'With --url the files are read here and sent to that server.',
    'With INLAY_OCR scans are read, and pictures (.png, .jpg) that are named, alone or by a pattern.',
  ],
  words: [1, Number.POSITIVE_INFINITY],
  needs: 'the folders, files, patterns or URLs to add',
  options: {
    'base-url': option(
      'address',
      'put before the path of each file to form its link (default: none, the link is the path)',
    ),
    prune: flag('delete documents of these folders whose file was deleted'),
    watch: flag('then keep watching these folders, until Ctrl+C'),
    'no-wait': flag('exit when all are accepted; a server on the same folder makes them searchable'),
  },
  async run(context) {
    const [{ createReader }, { createPageFetch }] = await Promise.all([
      import('./source-document.ts'),
      import('./web-pages.ts'),
    ])
    const addresses = context.words.filter(isWebAddress)
    const fetch = createPageFetch(addresses)
    const ocr = await ocrOf(context)
    const reader = await createReader({ baseUrl: textOption(context, 'base-url'), fetch, ocr, signal: context.signal })
    try {
      const selection = await findSources(context, addresses, fetch)
      return await withService(context, (service) => new Ingestion(context, intakeOf(service), reader).run(selection), {
        indexes: true,
        creates: true,
      })
    } finally {
      await reader.close()
    }
  },
}

async function ocrOf({ settings: { options }, output }: CommandContext): Promise<ImageReader | undefined> {
  if (options.ocr === undefined) return undefined
  const [{ configuredOcr }, { configuredModels }] = await Promise.all([
    import('../parts/ocr-parts.ts'),
    import('../parts/model-parts.ts'),
  ])
  return configuredOcr(options, () => configuredModels(options.model, (error) => output.note(String(error))))
}

interface Selection {
  readonly sources: readonly Source[]
  readonly folders: readonly string[]
  /** Number of skipped files by file extension. */
  readonly skippedKinds: Readonly<Record<string, number>>
  /** Ids of folders that may not be read. */
  readonly unreadable: readonly string[]
  readonly failures: readonly string[]
  readonly closed: number
}

async function findSources(
  { words, options, output, signal, settings }: CommandContext,
  addresses: readonly string[],
  fetch: Egress,
): Promise<Selection> {
  output.note('Looking for files.')
  const [skipped, unreadable]: [string[], string[]] = [[], []]
  if (words.includes('')) throw misuse('The name of a file or folder is empty.')
  const hasOcr = settings.options.ocr !== undefined
  const named = words.filter((word) => !isWebAddress(word))
  const paths = await expandPatterns(named, hasOcr)
  const onSkipped = (path: string): void => void skipped.push(path)
  const onUnreadable = (id: string): void => {
    unreadable.push(id.replace(/\/$/, ''))
    output.note(`inlay: ${plain(unreadable.at(-1)!)}: this user may not read the folder.`)
  }
  const files = await findSourceFiles(paths, process.cwd(), onSkipped, hasOcr, onUnreadable)
  const { findPages } = await import('./web-pages.ts')
  const sites = await Promise.all(addresses.map((address) => findPages(fetch, address, signal)))
  const failures = sites.flatMap((site) => site.failures)
  const closed = sites.reduce((sum, site) => sum + site.closed, 0)
  const folders = await foldersOf(paths)
  if (folders.length === 0 && (options['watch'] === true || options['prune'] === true))
    throw misuse('--watch and --prune need a folder.')
  const skippedKinds = countKinds(skipped)
  if (skipped.length > 0) output.note(skippedLine(skipped.length, skippedKinds))
  const sources = [...files, ...sites.flatMap(({ pages }) => pages)]
  if (sources.length === 0) output.note('There are no files to read.')
  return { sources, folders, skippedKinds, unreadable, failures, closed }
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
  const advice = ['', ...adviceForExtensions(Object.keys(kinds))].join(' ')
  return `Skipped ${files}: ${named.slice(0, 10).join(', ')}${more}.${advice}`
}

const isWebAddress = (given: string): boolean => /^https?:\/\//i.test(given) && URL.canParse(given)

class Ingestion {
  readonly #context: CommandContext
  readonly #intake: Intake
  readonly #reader: Reader
  #isWatching = false
  /** Accepted files of which parts could not be read. */
  readonly #partlyRead = new Set<Source>()

  constructor(context: CommandContext, intake: Intake, reader: Reader) {
    this.#context = context
    this.#intake = intake
    this.#reader = reader
  }

  async run({ sources, folders, skippedKinds, unreadable, failures, closed }: Selection): Promise<number> {
    const { output, signal, options } = this.#context
    const outcomes = await this.#addAll(sources)
    const removed =
      options['prune'] === true && !signal.aborted ? await this.#prune(folders, sources, unreadable) : undefined
    const summary = countOutcomes(outcomes)
    summary.failed += unreadable.length + failures.length
    const { unread, excluded, ...done } = { ...summary, excluded: summary.excluded + closed }
    const counts = {
      ...done,
      ...(removed !== undefined && { removed }),
      ...(this.#partlyRead.size > 0 && { partly_read: this.#partlyRead.size }),
      ...(excluded > 0 && { excluded }),
      ...(unread > 0 && { unread }),
    }
    if (output.isJson) output.json({ files: sources.length, ...counts, skipped: skippedKinds })
    else if (sources.length > 0 || removed !== undefined) output.line(summaryLine(counts))
    // At the end, where a list of many pages does not hide them.
    for (const failure of failures) output.note(`inlay: ${plain(failure)}`)
    if (excluded > 0) output.note(`Pages that robots.txt, noindex or a canonical URL excludes: ${excluded}.`)
    if (signal.aborted) {
      output.note(remainder(unread, await this.#waiting(acceptedOf(outcomes))))
      return 130
    }
    if (options['watch'] === true) return this.#watch(folders)
    return done.failed > 0 ? 1 : 0
  }

  /** Failures are printed as they happen. */
  async #addAll(sources: readonly Source[]): Promise<Map<Source, Outcome>> {
    const { output, options } = this.#context
    const outcomes = await this.#acceptAll(sources)
    const accepted = acceptedOf(outcomes)
    if (options['no-wait'] === true) return outcomes
    await this.#waitUntilSearchable(accepted)
    for (const source of accepted) {
      const state = await this.#intake.state(source.id)
      if (state?.phase !== 'failed') continue
      outcomes.set(source, 'failed')
      this.#partlyRead.delete(source)
      output.note(`inlay: ${plain(`${source.id}: ${state.reason ?? 'it could not be indexed.'}`)}`)
    }
    return outcomes
  }

  async #acceptAll(sources: readonly Source[]): Promise<Map<Source, Outcome>> {
    const { output, signal } = this.#context
    const outcomes = new Map<Source, Outcome>(sources.map((source) => [source, 'unread']))
    if (sources.length === 0) return outcomes
    const progress = this.#progress('Reading', sources.length)
    const queue = sources.values()
    let done = 0
    let outage: InlayError | undefined
    const work = async (): Promise<void> => {
      for (const source of queue) {
        if (signal.aborted || outage !== undefined) return
        try {
          const request = await this.#reader.read(source)
          const outcome = request ? await this.#intake.accept(request) : 'excluded'
          outcomes.set(source, outcome)
          if (!request || outcome === 'excluded') continue
          const { metadata = {} } = request.document
          const unread = outcome === 'unchanged' ? undefined : unreadPartsOf(metadataEntries(metadata))
          if (unread?.isPartial) this.#partlyRead.add(source)
          if (unread) output.note(`inlay: ${plain(source.id)}: ${plain(describeUnread(unread))}`)
        } catch (error) {
          if (isInlayError(error) && endsAll(error.status, 'url' in source)) outage ??= error
          if (outage !== undefined) return
          outcomes.set(source, 'failed')
          output.note(`inlay: ${plain(`${source.id}: ${isInlayError(error) ? error.message : 'cannot be read.'}`)}`)
        }
        progress.to(++done)
      }
    }
    try {
      // All of them end before an error is thrown: the reader must not be closed under one that still reads.
      await Promise.all(Array.from({ length: concurrency }, work))
    } finally {
      progress.end()
    }
    if (outage !== undefined) {
      if (!this.#isWatching && outage.status >= 500)
        output.note(`${done} of ${sources.length} files were sent. Run the same command again to continue.`)
      throw outage
    }
    return outcomes
  }

  async #waitUntilSearchable(accepted: readonly Source[]): Promise<void> {
    if (accepted.length === 0) return
    const { signal } = this.#context
    const progress = this.#progress('Making searchable', accepted.length)
    try {
      for (let waiting = accepted; ;) {
        const queued = (await this.#intake.queued()) ?? accepted.length
        // The queue may also contain documents of other processes, so check which of ours are still waiting.
        if (queued < concurrency || queued >= waiting.length) waiting = await this.#stillWaiting(waiting)
        const left = Math.min(queued, waiting.length)
        progress.to(accepted.length - left)
        if (left === 0 || signal.aborted) return
        await setTimeout(pollMs)
      }
    } finally {
      progress.end()
    }
  }

  /** Drops the documents that are done. The queue is processed roughly in order, so only the first few are checked. */
  async #stillWaiting(sources: readonly Source[]): Promise<readonly Source[]> {
    for (const [at, { id }] of sources.entries()) {
      const phase = (await this.#intake.state(id))?.phase
      if (phase === 'pending' || phase === 'indexing') return sources.slice(at)
    }
    return []
  }

  async #waiting(accepted: readonly Source[]): Promise<number> {
    const queued = await this.#intake.queued()
    return queued === undefined ? (await this.#stillWaiting(accepted)).length : Math.min(queued, accepted.length)
  }

  /** Files in folders that may not be read are not known to be gone. */
  async #prune(folders: readonly string[], sources: readonly Source[], unreadable: readonly string[]): Promise<number> {
    const present = new Set(sources.map(({ id }) => id))
    const isHidden = (id: string): boolean => unreadable.some((folder) => id.startsWith(`${folder}/`))
    let removed = 0
    for (const folder of folders)
      for (const id of await this.#intake.idsWith(`${folder.split(/[\\/]/).at(-1)}/`))
        if (!present.has(id) && !isHidden(id) && (await this.#intake.remove(id))) removed++
    return removed
  }

  async #watch(folders: readonly string[]): Promise<number> {
    const { output, signal } = this.#context
    output.note(`Watching ${folders.length === 1 ? folders[0] : `${folders.length} folders`}. Ctrl+C ends.`)
    this.#isWatching = true
    await watchFolders(folders, signal, async (changes) => {
      for (let isAway = false; !signal.aborted; isAway = true) {
        const outage = await this.#apply(changes).then(() => undefined, outageOf)
        if (outage === undefined) return
        if (!isAway) output.note(`inlay: ${outage.message} Trying again every ${retryMs / 1000} s.`)
        await setTimeout(retryMs, undefined, { signal }).catch(() => {})
      }
    })
    return 0
  }

  async #apply({ changed, gone }: FolderChanges): Promise<void> {
    const { output } = this.#context
    for (const { id } of gone) {
      const isFile = await this.#intake.remove(id)
      if (isFile) output.line(`deleted ${plain(id)}`)
      // A folder that was moved away causes no events for its files.
      for (const below of isFile ? [] : await this.#intake.idsWith(`${id}/`))
        if (await this.#intake.remove(below)) output.line(`deleted ${plain(below)}`)
    }
    for (const [source, outcome] of await this.#addAll(changed))
      if (outcome !== 'unchanged' && outcome !== 'failed') output.line(`${outcome} ${plain(source.id)}`)
  }

  /** Files that change while a folder is watched are few, and each is told. */
  #progress(what: string, total: number): Progress {
    return this.#isWatching ? { to: () => {}, end: () => {} } : this.#context.output.progress(what, total)
  }
}

/** A server that is away, for example while it restarts. @throws any other error */
function outageOf(error: unknown): InlayError {
  if (isInlayError(error) && error.status >= 500) return error
  throw error
}

/** A service that fails or refuses the key does so for all documents; a page may fail alone. */
const endsAll = (status: number, isPage: boolean): boolean =>
  (status >= 500 && !isPage) || status === 401 || status === 403

const acceptedOf = (outcomes: ReadonlyMap<Source, Outcome>): Source[] =>
  [...outcomes].filter(([, outcome]) => outcome === 'new' || outcome === 'changed').map(([source]) => source)

function countOutcomes(outcomes: ReadonlyMap<Source, Outcome>): Record<Outcome, number> {
  const counts: Record<Outcome, number> = { new: 0, changed: 0, unchanged: 0, failed: 0, unread: 0, excluded: 0 }
  for (const outcome of outcomes.values()) counts[outcome]++
  return counts
}

function remainder(unread: number, waiting: number): string {
  const files = (number: number): string => `${number} ${number === 1 ? 'file' : 'files'}`
  const sentences = ['Interrupted.']
  if (unread > 0)
    sentences.push(
      `${files(unread)} ${unread === 1 ? 'was' : 'were'} not read: run the same command again to continue.`,
    )
  if (waiting > 0)
    sentences.push(
      `${files(waiting)} ${waiting === 1 ? 'is' : 'are'} accepted but not searchable yet: ` +
        'the next inlay serve or inlay ingest continues with them.',
    )
  return sentences.join(' ')
}

const summaryLine = (summary: Readonly<Record<string, number>>): string =>
  Object.entries(summary)
    .map(([name, number]) => `${number} ${name === 'unread' ? 'not read' : name.replace('_', ' ')}`)
    .join(', ')
