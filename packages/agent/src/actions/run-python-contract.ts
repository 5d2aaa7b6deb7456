/** A file by its name in the working folder. */
export interface CodeFile {
  /** Without folders when it is handed in; what comes out may lie in folders: `plots/sales.png`. */
  readonly name: string
  readonly bytes: Uint8Array
}

/** A piece of what a program wrote. */
export interface CodeOutput {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** A program to be run. */
export interface CodeRun {
  /** Python. The value of a last line that is an expression is written to stdout, as an interactive Python would. */
  readonly code: string
  /** Laid into the working folder before; each name once. Default: none. */
  readonly files?: readonly CodeFile[]
  /** Longest time from the moment the program begins, in milliseconds. Default: what the runner gives. */
  readonly timeLimitMs?: number
  /** Most bytes of output, both streams together; what is more is dropped. Default 1 MiB. */
  readonly outputLimitBytes?: number
  /** Most bytes of produced files together. Default 50 MB. */
  readonly filesLimitBytes?: number
  /** Ends the program at once. */
  readonly signal?: AbortSignal
  /** Hears of output as it is written, in order within each stream; none after the run has ended. */
  readonly onOutput?: (output: CodeOutput) => void
}

/** How a program ended. */
export interface CodeOutcome {
  /** 0: it came to its end; 1: an error that it did not catch, or what it exited with; null: it was ended from outside. */
  readonly exitCode: number | null
  readonly timedOut: boolean
  /** Why it was ended from outside, in a sentence; null when it ended by itself. */
  readonly error: string | null
  /** Files of the working folder that are new or changed, by name; those of a program ended from outside may be lost. */
  readonly files: readonly CodeFile[]
  /** Names of new or changed files that were more than is allowed. */
  readonly droppedFiles: readonly string[]
  /** Whether output was dropped. */
  readonly isOutputCut: boolean
}

/**
 * Runs programs that nobody has read, each isolated from the others: no program sees files, variables or modules of another
 * run, a file of the host, its environment or a network. A program that fails, hangs, exits or asks for more memory,
 * time or output than it may have resolves with what became of it, and harms no other run. Rejects for what is not the
 * program's doing: with the signal's reason; RATE_LIMITED when too many wait; CLOSED; SERVICE_UNAVAILABLE when no
 * interpreter can be started. Runs may overlap. Contract: `codeRunnerConformance`.
 */
export interface CodeRunner {
  run(run: CodeRun): Promise<CodeOutcome>
  /** Longest time that the operator gives programs, in milliseconds. Default 60,000. */
  readonly timeLimitMs?: number
  /** Packages that programs may import besides the standard library, as a person reads them. Default: none. */
  readonly packages?: readonly string[]
}
