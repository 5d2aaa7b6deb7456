import type { CodeFile, CodeOutcome, CodeOutput, CodeRun, CodeRunner } from '@inlay/agent'
import { codeRunnerConformance } from '@inlay/conformance'
import { testMutants } from '../../mutants.ts'
import { sampleRunner } from './sample-runner.ts'

type Change = (base: CodeRunner) => Partial<CodeRunner>

/** Changes how a program is run. */
const runs =
  (change: (run: CodeRun) => Partial<CodeRun>): Change =>
  (base) => ({ run: (run) => base.run({ ...run, ...change(run) }) })

/** Changes what became of a program. */
const outcomes =
  (change: (outcome: CodeOutcome, run: CodeRun) => Partial<CodeOutcome>): Change =>
  (base) => ({
    run: async (run) => {
      const outcome = await base.run(run)
      return { ...outcome, ...change(outcome, run) }
    },
  })

/** Changes output on its way. */
const outputs = (change: (output: CodeOutput) => readonly CodeOutput[]): Change =>
  runs(({ onOutput }) => ({
    onOutput: (output) => {
      for (const changed of change(output)) onOutput?.(changed)
    },
  }))

/** Lets programs with this in them print something else. */
const prints = (part: string, text: string): Change =>
  runs(({ code, onOutput }) => (code.includes(part) ? { onOutput: ({ stream }) => onOutput?.({ stream, text }) } : {}))

const wrongOutput: Readonly<Record<string, Change>> = {
  'says nothing': outputs(() => []),
  'says everything twice': outputs((output) => [output, output]),
  'sends errors to stdout': outputs((output) => [{ ...output, stream: 'stdout' }]),
  'breaks letters outside ASCII': outputs((output) => [
    { ...output, text: Buffer.from(output.text).toString('latin1') },
  ]),
  'ends lines as Windows does': outputs((output) => [{ ...output, text: output.text.replaceAll('\n', '\r\n') }]),
  'does not show the last value': outputs((output) => [{ ...output, text: output.text.replace(/42\n$/, '') }]),
  'keeps no limit of output': runs(() => ({ maxOutputBytes: 1_000_000 })),
  'hides that output was cut': outcomes(() => ({ isOutputCut: false })),
  'ends a program that says too much': outcomes(({ isOutputCut }) =>
    isOutputCut ? { exitCode: null, error: 'It said too much.', files: [] } : {},
  ),
}

const wrongOutcome: Readonly<Record<string, Change>> = {
  'takes every end for a good one': outcomes(() => ({ exitCode: 0 })),
  'takes every failure for 1': outcomes(({ exitCode }) => ({ exitCode: exitCode === null ? null : exitCode && 1 })),
  'blames itself for a program that fails': outcomes(({ exitCode }) => ({ error: exitCode ? 'It failed.' : null })),
  'rejects when a program fails': (base) => ({
    run: async (run) => {
      const outcome = await base.run(run)
      if (outcome.exitCode === 1) throw new Error('It failed.')
      return outcome
    },
  }),
  'counts lines of its own wrapper': runs(({ code }) => ({ code: `import wrapper\n${code}` })),
  'brings no files': outcomes(() => ({ files: [] })),
  'brings files back that did not change': outcomes(({ files }, run) => ({ files: [...(run.files ?? []), ...files] })),
  'cuts files': outcomes(({ files }) => ({
    files: files.map(({ name, bytes }) => ({ name, bytes: bytes.slice(0, 1_000) })),
  })),
  'reads files as text': outcomes(({ files }) => ({
    files: files.map(({ name, bytes }) => ({ name, bytes: new TextEncoder().encode(new TextDecoder().decode(bytes)) })),
  })),
  'lays no files into the folder': runs(() => ({ files: [] })),
  'lays the whole buffer of a view into the folder': runs(({ files = [] }) => ({
    files: files.map(({ name, bytes }) => ({ name, bytes: new Uint8Array(bytes.buffer) })),
  })),
  'takes the files of its caller away': (base) => ({
    run: async (run) => {
      const outcome = await base.run(run)
      for (const { bytes } of run.files ?? []) bytes.fill(0)
      return outcome
    },
  }),
  'has one folder for all programs': (base) => {
    let folder: readonly CodeFile[] = []
    return {
      run: async (run) => {
        if (run.files) folder = run.files
        await Promise.resolve()
        return base.run({ ...run, files: folder })
      },
    }
  },
  'remembers programs by their text': (base) => {
    const kept = new Map<string, Promise<CodeOutcome>>()
    return {
      run: async (run) => {
        const outcome = kept.get(run.code) ?? base.run(run)
        kept.set(run.code, outcome)
        return outcome
      },
    }
  },
  'keeps no limit of files': runs(() => ({ maxFilesBytes: 50_000_000 })),
  'names no file that it left out': outcomes(() => ({ droppedFiles: [] })),
}

const wrongEnds: Readonly<Record<string, Change>> = {
  'hides that the time was over': outcomes(() => ({ timedOut: false })),
  'gives a program that it ended an exit code': outcomes(({ timedOut }) => (timedOut ? { exitCode: 137 } : {})),
  'gives no reason when it ends a program': outcomes(() => ({ error: null })),
  'rejects when the time is over': (base) => ({
    run: async (run) => {
      const outcome = await base.run(run)
      if (outcome.timedOut) throw new Error('The time is over.')
      return outcome
    },
  }),
  'loses what a program said before its end': (base) => ({
    run: (run) => base.run(run.code.includes('except BaseException') ? { ...run, onOutput: () => {} } : run),
  }),
  'does not stop': runs(() => ({ signal: new AbortController().signal, timeoutMs: 1 })),
  'runs what was stopped before': (base) => ({
    run: ({ signal, ...run }) => base.run(signal?.aborted ? run : { ...run, ...(signal && { signal }) }),
  }),
  'fails with an error of its own when it is stopped': (base) => ({
    run: (run) => base.run(run).catch(() => Promise.reject(new Error('killed'))),
  }),
}

const wrongWalls: Readonly<Record<string, Change>> = {
  'gives memory without a limit': prints('hoard', 'got it\n'),
  'is gone after a program that asked for too much': (base) => {
    let isGone = false
    return {
      run: async (run) => {
        if (isGone) throw new Error('The interpreter has ended.')
        isGone = run.code.includes('hoard')
        return base.run(run)
      },
    }
  },
  'keeps files for the next program': prints('hasattr(json, "own")', "['own.txt'] False False False\n"),
  'keeps modules for the next program': prints('hasattr(json, "own")', '[] False True False\n'),
  'keeps variables for the next program': prints('hasattr(json, "own")', '[] False False True\n'),
  'lets programs read files of the host': prints('def attempt', 'succeeded: open("/etc/passwd").read()\ntried\n'),
  'lets programs start others': prints('def attempt', 'succeeded: __import__("os").system("id")\ntried\n'),
  'ends programs that look for a way out': outcomes((_, { code }) =>
    code.includes('def attempt') ? { error: 'A process was refused.' } : {},
  ),
}

testMutants<Change>(
  'code runner',
  (change) => {
    const runner = { ...sampleRunner, ...change(sampleRunner) }
    return codeRunnerConformance(() => runner)
  },
  { sound: () => ({}), mutants: { ...wrongOutput, ...wrongOutcome, ...wrongEnds, ...wrongWalls } },
)
