/** A run of backticks on the present line that is not closed yet. */
interface Run {
  readonly length: number
  readonly startsLine: boolean
}

/** Knows, while text streams by, whether a place is inside inline or fenced code. */
export interface CodeTracker {
  /** Whether the text is inside a fenced block now. */
  inFence(): boolean
  /** A run of backticks or tildes was passed; `next` is the character behind it. */
  passRun(run: { char: string; length: number; startsLine: boolean; next: string | undefined }): void
  /** A line ended; `line` is its end, as far as it is known. Tells whether it opened a fenced block without a language. */
  passLineEnd(line: string): boolean
  /**
   * Whether a place on the present line is code, given the text behind it: undefined when that text is too short to
   * tell. `ended` says that no more will come.
   */
  covers(behind: string, ended: boolean): boolean | undefined
  reset(): void
}

// Both bound the work per bracket; no sane line meets them.
const openRunLimit = 64
const lookAheadLimit = 1_000

const fenceLength = 3
const languageOnly = /`{3,}[\w+#.-]{0,20}[^\S\n]*$/

/** Position of the run that closes `runs[index]`: the next one of the same length, as in CommonMark; -1 if none. */
const closing = (runs: readonly Run[], index: number): number =>
  runs.findIndex((run, at) => at > index && run.length === runs[index]?.length)

/** Whether the place between both lists of runs of one line is inside code. */
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

/** The run that a line leaves open as the start of a fenced block. */
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
 * Makes a tracker of code. Inline code ends on its line (models do not wrap lines); a fence needs three marks or more,
 * alone or followed by a language; it is closed by at least as many at the start of a line.
 */
export function createCodeTracker(): CodeTracker {
  let fence: { char: string; length: number } | undefined
  let runs: Run[] = []

  return {
    inFence: () => fence !== undefined,
    passRun({ char, length, startsLine, next }) {
      if (fence) {
        const closes = startsLine && char === fence.char && length >= fence.length && !/[\p{L}\p{N}]/u.test(next ?? '')
        if (closes) fence = undefined
      } else if (char === '~') {
        if (startsLine && length >= fenceLength) fence = { char, length }
      } else if (runs[0]?.length === length || runs.length === openRunLimit) {
        runs = []
      } else {
        runs.push({ length, startsLine })
      }
    },
    passLineEnd(line) {
      const opened = fence ? undefined : openedFence(runs, line)
      const isBare = opened !== undefined && opened === runs.at(-1) && line.endsWith('`')
      if (opened) fence = { char: '`', length: opened.length }
      runs = []
      return isBare
    },
    covers(behind, ended) {
      const first = runs[0]
      if (fence || !first) return fence !== undefined
      const lineEnd = behind.indexOf('\n')
      const isWhole = ended || lineEnd !== -1 || behind.length > lookAheadLimit
      const line = behind.slice(0, Math.min(lineEnd === -1 ? behind.length : lineEnd, lookAheadLimit))
      const after = [...line.matchAll(/`+/g)].map(([run]) => ({ length: run.length, startsLine: false }))
      // The last run may still grow while its end is the end of what has arrived.
      const isRunCut = !isWhole && line.endsWith('`')
      const known = isRunCut ? after.slice(0, -1) : after
      if (known.some((run) => run.length === first.length)) return true
      return isWhole ? isBetweenRuns(runs, known) : undefined
    },
    reset() {
      fence = undefined
      runs = []
    },
  }
}
