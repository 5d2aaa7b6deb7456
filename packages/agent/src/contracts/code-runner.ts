/** A file in the working folder. */
export interface CodeFile {
  /** Without folders for input files; output files may be in folders: `plots/sales.png`. */
  readonly name: string
  readonly bytes: Uint8Array
}

export interface CodeOutput {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

export interface CodeRun {
  /** Python code. If its last line is an expression, the value is written to stdout, as in an interactive session. */
  readonly code: string
  /** Files to put into the working folder first; names are unique. Default: none. */
  readonly files?: readonly CodeFile[]
  /** Timeout from the start of the program, in milliseconds. Default: that of the runner. */
  readonly timeoutMs?: number
  /** Maximum bytes of output, both streams together; the rest is dropped. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** Maximum bytes of all output files. Default 50 MB. */
  readonly maxFilesBytes?: number
  /** Ends the program at once. */
  readonly signal?: AbortSignal
  /** Called with output as it is written, in order within each stream; never after the run has ended. */
  readonly onOutput?: (output: CodeOutput) => void
}

export interface CodeOutcome {
  /** 0: success; 1: an uncaught error, or the program's own exit code; null: terminated from outside. */
  readonly exitCode: number | null
  readonly timedOut: boolean
  /** Reason for the termination, as a sentence; null when the program ended by itself. */
  readonly error: string | null
  /** New or changed files of the working folder, by name; may be incomplete for a terminated program. */
  readonly files: readonly CodeFile[]
  /** Names of new or changed files beyond the size limit. */
  readonly droppedFiles: readonly string[]
  readonly isOutputCut: boolean
}

/**
 * Runs untrusted programs in isolation: no program sees files, variables or modules of another run, files or the
 * environment of the host, or a network. A program that fails, hangs, exits or exceeds a limit resolves with its
 * outcome and affects no other run. Rejects only for reasons outside of the program: with the signal's reason;
 * RATE_LIMITED when too many programs wait; CLOSED; SERVICE_UNAVAILABLE when no interpreter can be started. Runs may
 * overlap. Contract: `codeRunnerConformance`.
 */
export interface CodeRunner {
  run(run: CodeRun): Promise<CodeOutcome>
  /** Timeout that the operator sets for programs, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number
  /** Importable packages besides the standard library, as text for people. Default: none. */
  readonly packages?: readonly string[]
}
