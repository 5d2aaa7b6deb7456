import type { LogEntry, RunTail } from '../contracts/run.ts'
import { deltaTail } from './delta-lines.ts'

/** Log of the lines of one run. Any number of readers read it, each at its own pace. */
export interface RunLog {
  /** Sequence number of the newest line; 0 if there is none. */
  readonly last: number
  /** Sequence number of the oldest line kept; greater than `last` if there is none. */
  readonly first: number
  /** Approximate memory of the kept lines: two bytes per character, shared heads counted once. */
  readonly bytes: number
  readonly finished: boolean
  /** Number of readers that wait for new lines. */
  readonly tailing: number
  append(json: string): void
  /** Adds the line `head` + `text` + {@link deltaTail}. Consecutive lines with the same head store it once. */
  appendDelta(head: string, text: string): void
  /** Ends the log: readers end after the last line. */
  end(): void
  /** See `Run.read`. Ends at once if lines after the cursor were dropped. */
  read(cursor?: number, signal?: AbortSignal): AsyncIterable<readonly LogEntry[]>
  /** See `Run.tail`; ends as `read` does. */
  tail(cursor: number, onReady: () => void): RunTail
  /**
   * The lines after the cursor; undefined if some of them were dropped.
   * @param maxChars returns only the first lines, until they have this many characters
   */
  after(cursor: number, maxChars?: number): readonly LogEntry[] | undefined
  newest(): LogEntry | undefined
  /** The kept lines, oldest first. Consecutive deltas are merged into one line, which folds to the same answer. */
  merged(): Iterable<string>
  /** The kept lines as they are held: the texts after a head that they share, or whole lines after the head "". */
  blocks(): Iterable<{ readonly head: string; readonly texts: readonly string[] }>
}

export interface RunLogOptions {
  /** Above this size the oldest lines are dropped, so a slow reader is cut off instead of costing unbounded memory. */
  readonly maxBytes: number
  /** Receives dropped lines, with consecutive deltas merged. */
  readonly onDrop?: (json: string) => void
  /**
   * Whether a reader that starts after the last line receives the end of the run again. It may have read other lines
   * with these numbers from a process that crashed before sharing them, and would otherwise miss the end.
   */
  readonly repeatsEnd?: boolean
}

/** Consecutive lines with the same head and tail. */
interface Block {
  /** Sequence number of its first line. */
  readonly first: number
  /** Shared by all lines; "" for lines that are stored complete. */
  readonly head: string
  count: number
  chars: number
  /** Texts between head and tail. A full block joins them with line feeds, which JSON never contains. */
  texts: string[] | string
}

/** Lines or characters of a full block, and at most a small part of the log, since only whole blocks are dropped. */
const [blockLines, blockChars] = [64, 4_096]
/** Memory of a block in addition to its texts. */
const blockBytes = 160

export function createRunLog({ maxBytes, onDrop, repeatsEnd = false }: RunLogOptions): RunLog {
  let blocks: Block[] = []
  // Blocks before this index are dropped. The array is cut only occasionally, so that dropping stays cheap.
  let start = 0
  const tails = new Set<() => void>()
  let isWaking = false

  // In a microtask, so that lines written together are read together.
  const notify = (): void => {
    if (isWaking || tails.size === 0) return
    isWaking = true
    queueMicrotask(() => {
      isWaking = false
      for (const notifyTail of tails) notifyTail()
    })
  }
  const dropOldest = (): void => {
    const block = blocks[start++]!
    log.bytes -= bytesOf(block)
    if (onDrop) for (const json of mergedLines(block)) onDrop(json)
    if (start <= 64 || start * 2 <= blocks.length) return
    blocks = blocks.slice(start)
    start = 0
  }
  const add = (head: string, text: string): void => {
    if (log.finished) return
    let block = blocks.at(-1)
    if (!block || block.head !== head || typeof block.texts === 'string') {
      if (block && typeof block.texts !== 'string') block.texts = block.texts.join('\n')
      block = { first: log.last + 1, head, count: 0, chars: 0, texts: [] }
      blocks.push(block)
      log.bytes += bytesOf(block)
    }
    const texts = block.texts as string[]
    texts.push(text)
    block.count++
    block.chars += text.length
    log.last++
    log.bytes += (text.length + 1) * 2
    if (block.count === blockLines || block.chars >= Math.min(blockChars, maxBytes / 32)) block.texts = texts.join('\n')
    while (log.bytes > maxBytes && start < blocks.length - 1) dropOldest()
    notify()
  }
  const indexOf = (sequence: number): number => {
    let [low, high] = [start, blocks.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (blocks[middle]!.first <= sequence) low = middle
      else high = middle - 1
    }
    return low
  }

  const log = {
    last: 0,
    bytes: 0,
    finished: false,
    get first() {
      return blocks[start]?.first ?? log.last + 1
    },
    get tailing() {
      return tails.size
    },
    append: (json: string) => add('', json),
    appendDelta: add,
    end: () => {
      log.finished = true
      notify()
    },
    read: (cursor = 0, signal?: AbortSignal) => ({
      [Symbol.asyncIterator]: () => createReader((onReady) => log.tail(cursor, onReady), signal),
    }),
    tail: (cursor: number, onReady: () => void) => createTail(log, tails, { cursor, repeatsEnd }, onReady),
    after: (cursor: number, maxChars = Infinity) => {
      if (cursor >= log.last) return []
      if (cursor + 1 < log.first) return undefined
      // A reader that keeps up takes line by line.
      if (cursor === log.last - 1) return [newestOf(blocks.at(-1)!, log.last)]
      const entries: LogEntry[] = []
      let chars = 0
      for (let index = indexOf(cursor + 1); index < blocks.length && chars < maxChars; index++) {
        const block = blocks[index]!
        const texts = textsOf(block)
        for (let at = Math.max(0, cursor + 1 - block.first); at < texts.length && chars < maxChars; at++) {
          const json = toLine(block.head, texts[at]!)
          chars += json.length
          entries.push({ sequence: block.first + at, json })
        }
      }
      return entries
    },
    newest: () => log.after(log.last - 1)?.at(-1),
    merged: function* () {
      for (let index = start; index < blocks.length; index++) yield* mergedLines(blocks[index]!)
    },
    blocks: function* () {
      for (const block of blocks.slice(start)) yield { head: block.head, texts: textsOf(block) }
    },
  }
  return log
}

function newestOf({ head, texts }: Block, sequence: number): LogEntry {
  const text = typeof texts === 'string' ? texts.slice(texts.lastIndexOf('\n') + 1) : texts.at(-1)!
  return { sequence, json: toLine(head, text) }
}

const bytesOf = ({ head, chars, count }: Block): number => blockBytes + (head.length + chars + count) * 2
const textsOf = ({ texts }: Block): readonly string[] => (typeof texts === 'string' ? texts.split('\n') : texts)
const toLine = (head: string, text: string): string => (head === '' ? text : head + text + deltaTail)

function mergedLines(block: Block): readonly string[] {
  const texts = textsOf(block)
  return block.head === '' ? texts : [toLine(block.head, texts.join(''))]
}

/** Maximum characters per step, so that a slow reader holds only a part of its backlog. */
const stepChars = 16_384

/** @param tails functions that notify readers of new lines */
function createTail(
  log: RunLog,
  tails: Set<() => void>,
  { cursor: startCursor, repeatsEnd }: { readonly cursor: number; readonly repeatsEnd: boolean },
  onReady: () => void,
): RunTail {
  let cursor = startCursor
  let isOver = false
  let isWaiting = false
  const notifyTail = (): void => {
    if (!isWaiting) return
    isWaiting = false
    onReady()
  }
  const leave = (): void => {
    isOver = true
    tails.delete(notifyTail)
  }
  /** The end of the run, for a reader that started after it; otherwise undefined. */
  const endAgain = (): readonly LogEntry[] | undefined => {
    if (cursor !== startCursor || cursor < log.last || !log.finished) return undefined
    const last = log.newest()
    return last && isEnd(last.json) ? [{ sequence: cursor + 1, json: last.json }] : undefined
  }
  return {
    take: () => {
      if (isOver) return undefined
      const entries = (repeatsEnd ? endAgain() : undefined) ?? log.after(cursor, stepChars)
      if (entries && entries.length > 0) {
        cursor = entries.at(-1)!.sequence
        return entries
      }
      if (entries && !log.finished) {
        // Registers the reader once, not for each line.
        tails.add(notifyTail)
        isWaiting = true
        return entries
      }
      leave()
      return undefined
    },
    leave,
  }
}

type Step = IteratorResult<readonly LogEntry[]>
const over: Step = { done: true, value: undefined }

function createReader(
  open: (onReady: () => void) => RunTail,
  signal: AbortSignal | undefined,
): AsyncIterator<readonly LogEntry[]> {
  const waiting: ((step: Step) => void)[] = []
  /** The next step; undefined if there is none yet. */
  const take = (): Step | undefined => {
    const entries = signal?.aborted ? undefined : tail.take()
    if (entries?.length === 0) return undefined
    if (entries) return { done: false, value: entries }
    leave()
    return over
  }
  const settle = (): void => {
    while (waiting.length > 0) {
      const step = take()
      if (step === undefined) return
      waiting.shift()?.(step)
    }
  }
  const leave = (): void => {
    tail.leave()
    signal?.removeEventListener('abort', settle)
  }
  const tail = open(settle)
  let isListening = false
  return {
    // Not an async function: its extra promise costs as much as the line.
    next: () => {
      const step = waiting.length === 0 ? take() : undefined
      if (step !== undefined) return Promise.resolve(step)
      if (!isListening) signal?.addEventListener('abort', settle, { once: true })
      isListening = true
      return new Promise((resolve) => void waiting.push(resolve))
    },
    return: async () => {
      leave()
      settle()
      return over
    },
  }
}

function isEnd(json: string): boolean {
  return json.startsWith('{"error":') || json.includes('"obj":{"type":"stop"')
}
