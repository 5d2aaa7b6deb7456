/** A run of backticks on the current line that is not closed yet. */
interface Run {
  readonly length: number
  readonly startsLine: boolean
}

interface Fence {
  readonly char: string
  readonly length: number
}

/** Tracks whether a position of streaming text is inside inline or fenced code. */
export interface CodeTracker {
  /** The current fenced block. */
  readonly fence: Fence | undefined
  /** Called for each run of backticks or tildes; `next` is the character behind it. */
  passRun(run: { char: string; length: number; startsLine: boolean; next: string | undefined }): void
  /**
   * Called at the end of a line; `line` is that end, as far as known. Returns whether it opened a fenced block without
   * a language.
   */
  passLineEnd(line: string): boolean
  /**
   * Whether a position on the current line is code, given the text behind it; undefined when that text is too short to
   * tell. `ended` means that no more text follows.
   */
  covers(behind: string, ended: boolean): boolean | undefined
}

// Both bound the work per bracket; no real line reaches them.
const maxOpenRun = 64
const maxLookAhead = 1_000

const fenceLength = 3
const languageOnly = /(?<!`)`{3,}[\w+#.-]{0,20}[^\S\n]*$/

/** Index of the run that closes `runs[index]`: the next one of the same length, as in CommonMark; -1 if none. */
const closing = (runs: readonly Run[], index: number): number =>
  runs.findIndex((run, at) => at > index && run.length === runs[index]?.length)

/** Whether the position between these runs of one line is inside code. */
function isBetweenRuns(before: readonly Run[], after: readonly Run[]): boolean {
  const runs = [...before, ...after]
  for (let index = 0; index < before.length;) {
    const end = closing(runs, index)
    if (end >= before.length) return true
    const run = runs[index]
    if (end === -1 && run && run.startsLine && run.length >= fenceLength) return true
    index = end === -1 ? index + 1 : end + 1
  }
  return false
}

/** The unclosed run of a line that opens a fenced block. */
function openedFence(runs: readonly Run[], line: string): Run | undefined {
  for (let index = 0; index < runs.length;) {
    const end = closing(runs, index)
    const run = runs[index]
    if (end === -1 && run && run.length >= fenceLength && (run.startsLine || languageOnly.test(line))) return run
    index = end === -1 ? index + 1 : end + 1
  }
  return undefined
}

/**
 * Creates a tracker of code. Inline code ends on its line, as models do not wrap lines. A fence has at least three
 * characters, alone or followed by a language, and is closed by at least as many at the start of a line.
 */
export function createCodeTracker(): CodeTracker {
  let runs: Run[] = []
  const tracker: CodeTracker & { fence: Fence | undefined } = {
    fence: undefined,
    passRun({ char, length, startsLine, next }) {
      const { fence } = tracker
      if (fence) {
        const closes = startsLine && char === fence.char && length >= fence.length && !/[\p{L}\p{N}]/u.test(next ?? '')
        if (closes) tracker.fence = undefined
      } else if (char === '~') {
        if (startsLine && length >= fenceLength) tracker.fence = { char, length }
      } else if (runs[0]?.length === length || runs.length === maxOpenRun) {
        runs = []
      } else {
        runs.push({ length, startsLine })
      }
    },
    passLineEnd(line) {
      const opened = tracker.fence ? undefined : openedFence(runs, line)
      const isBare = opened !== undefined && opened === runs.at(-1) && line.endsWith('`')
      if (opened) tracker.fence = { char: '`', length: opened.length }
      runs = []
      return isBare
    },
    covers(behind, ended) {
      const first = runs[0]
      if (tracker.fence || !first) return tracker.fence !== undefined
      const lineEnd = behind.indexOf('\n')
      const isWhole = ended || lineEnd !== -1 || behind.length > maxLookAhead
      const line = behind.slice(0, Math.min(lineEnd === -1 ? behind.length : lineEnd, maxLookAhead))
      const after = [...line.matchAll(/`+/g)].map(([run]) => ({ length: run.length, startsLine: false }))
      // The last run may still grow when more text arrives.
      const isRunCut = !isWhole && line.endsWith('`')
      const known = isRunCut ? after.slice(0, -1) : after
      if (known.some((run) => run.length === first.length)) return true
      return isWhole ? isBetweenRuns(runs, known) : undefined
    },
  }
  return tracker
}
