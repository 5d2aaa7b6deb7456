import type { CodeFile, CodeOutcome, CodeRun, CodeRunner } from '@inlay/agent'

/** Outcomes of a program without restrictions. */
interface Program {
  readonly stdout?: string
  readonly stderr?: string
  readonly exitCode?: number
  readonly files?: readonly CodeFile[]
  readonly isEndless?: boolean
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const file = (name: string, text: string): CodeFile => ({ name, bytes: bytesOf(text) })
const textOf = ({ files = [] }: CodeRun, name: string): string =>
  new TextDecoder().decode(files.find((each) => each.name === name)?.bytes)

const manyBytes = Uint8Array.from({ length: 1_280_000 }, (_, at) => at % 256)

/** The programs of the conformance tests by what is in them, and what CPython makes of each. */
const programs: readonly (readonly [part: string, run: (run: CodeRun) => Program])[] = [
  [
    '6 * 7',
    ({ code }) => ({ stdout: `${JSON.parse(/print\(("[^]*?")/.exec(code)![1]!).repeat(2_000)}\n42\n`, stderr: 'e\n' }),
  ],
  [
    '1 / 0',
    ({ code }) => ({
      stdout: 'before\n',
      stderr: `line ${code.split('\n').indexOf('1 / 0') + 1}\nZeroDivisionError`,
      exitCode: 1,
    }),
  ],
  ['x = (', () => ({ stderr: "SyntaxError: '(' was never closed", exitCode: 1 })],
  ['sys.exit(3)', () => ({ exitCode: 3 })],
  [
    'made.bin',
    (run) => ({
      stdout: `${textOf(run, 'kept.txt')} ${textOf(run, 'größe 1.csv')}\n`,
      files: [file('größe 1.csv', `${textOf(run, 'größe 1.csv')}!`), { name: 'made.bin', bytes: manyBytes }],
    }),
  ],
  [
    'mine.txt',
    (run) => ({ stdout: `${textOf(run, 'mine.txt')}\n`, files: [file('mine.txt', `${textOf(run, 'mine.txt')}!`)] }),
  ],
  ['"x" * 1000)', () => ({ files: [file('a', 'x'.repeat(10)), file('b', 'x'.repeat(1_000))] })],
  ['while True', () => ({ stdout: 'begun\n', isEndless: true })],
  ['print("other")', () => ({ stdout: 'other\n' })],
  ['hoard', () => ({ stderr: 'MemoryError', exitCode: 1 })],
  ['print(1)', () => ({ stdout: '1\n' })],
  ['"x" * 5000', () => ({ stdout: `${'x'.repeat(5_000)}\n`, files: [file('end', 'reached')] })],
  ['json.own = ', () => ({ files: [file('own.txt', 'secret')] })],
  ['hasattr(json, "own")', () => ({ stdout: '[] False False False\n' })],
  ['def attempt', () => ({ stdout: 'tried\n' })],
]

/** Lets output through until the limit; both streams count. */
function cutAt(limit: number): { readonly cut: (text: string) => string; readonly isCut: () => boolean } {
  let [room, isCut] = [limit, false]
  return {
    cut: (text) => {
      const kept = text.slice(0, room)
      isCut ||= kept.length < text.length
      room -= kept.length
      return kept
    },
    isCut: () => isCut,
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Stands for an interpreter: it knows the programs of the conformance tests, and keeps all limits. */
export const sampleRunner: CodeRunner = {
  async run(run) {
    const { code, signal, onOutput, maxOutputBytes = 1_048_576, maxFilesBytes = 50_000_000 } = run
    signal?.throwIfAborted()
    const program = programs.find(([part]) => code.includes(part))?.[1](run) ?? {}
    const output = cutAt(maxOutputBytes)
    for (const stream of ['stdout', 'stderr'] as const) {
      const text = output.cut(program[stream] ?? '')
      if (text !== '') onOutput?.({ stream, text })
    }
    // With a limit it is reached at once; otherwise only a stop ends it.
    if (program.isEndless && run.timeoutMs === undefined && signal) await aborted(signal)
    await new Promise((resolve) => setImmediate(resolve))
    signal?.throwIfAborted()
    let room = maxFilesBytes
    const files = (program.files ?? []).filter(({ bytes }) => (room -= bytes.length) >= 0)
    const isEndless = program.isEndless === true
    return {
      exitCode: isEndless ? null : (program.exitCode ?? 0),
      timedOut: isEndless,
      error: isEndless ? 'The program took too long.' : null,
      files,
      droppedFiles: (program.files ?? []).filter((each) => !files.includes(each)).map(({ name }) => name),
      isOutputCut: output.isCut(),
    } satisfies CodeOutcome
  },
}
