import type { CodeOutcome, CodeRun, CodeRunner } from '@inlay/agent'
import { must, mustEqual, rejectionOf, toTests, type Checks, type ConformanceTest } from '../contract.ts'

/** Returns the runner to test; it may be the same each time. */
export type MakeCodeRunner = () => CodeRunner | Promise<CodeRunner>

interface Heard extends CodeOutcome {
  readonly stdout: string
  readonly stderr: string
}

/**
 * Requirements of every `CodeRunner`, as a list for any test runner. Runs about twenty programs.
 * @example for (const [title, run] of codeRunnerConformance(make)) test(title, run)
 */
export function codeRunnerConformance(make: MakeCodeRunner): ConformanceTest[] {
  return toTests(checks, async (check) => {
    const runner = await make()
    await check({ runner, run: (code, more) => runWhole(runner, { code, ...more }) })
  })
}

type Run = (code: string, more?: Partial<CodeRun>) => Promise<Heard>

async function runWhole(runner: CodeRunner, run: CodeRun): Promise<Heard> {
  const said = { stdout: '', stderr: '' }
  const outcome = await runner.run({ ...run, onOutput: ({ stream, text }) => void (said[stream] += text) })
  return { ...outcome, ...said }
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

/** New files, each in the midst of a larger buffer. */
const sampleFiles = (): CodeRun['files'] & {} =>
  ['kept.txt', 'größe 1.csv'].map((name) => ({ name, bytes: encode(`before of ${name} after`).subarray(7, -6) }))

/** Attempts to escape the sandbox: each line is tried separately, and successes are printed. */
const attempts: readonly string[] = [
  'open("/etc/passwd").read()',
  'open("/proc/self/environ").read()',
  'open("/proc/self/cmdline").read()',
  '__import__("urllib.request").request.urlopen("http://127.0.0.1:9/")',
  '__import__("socket").create_connection(("127.0.0.1", 9))',
  '__import__("_socket").socket().connect(("127.0.0.1", 9))',
  '__import__("socket").getaddrinfo("example.org", 80)',
  '__import__("subprocess").run(["id"], check=True)',
  'assert __import__("os").system("id") == 0',
  '__import__("js").fetch',
  '__import__("js").process',
  '__import__("pyodide.code").code.run_js("1")',
  '__import__("pyodide_js").runPython',
]

const checks: Checks<{ readonly run: Run; readonly runner: CodeRunner }> = {
  async 'both streams arrive whole, and a last expression shows its value'({ run }) {
    const text = 'größer 🦀 \u2028'
    const heard = await run(`import sys\nprint(${JSON.stringify(text)} * 2000)\nprint("e", file=sys.stderr)\n6 * 7`)
    must(heard.stdout === `${text.repeat(2_000)}\n42\n`, 'stdout is what was printed, then the value')
    mustEqual([heard.stderr, heard.exitCode, heard.timedOut, heard.error], ['e\n', 0, false, null], 'outcome')
  },
  async 'an error that is not caught ends the program with 1 and tells its line'({ run }) {
    const heard = await run('print("before")\n1 / 0\nprint("after")')
    mustEqual([heard.stdout, heard.exitCode, heard.error], ['before\n', 1, null], 'outcome')
    must(/line 2/.test(heard.stderr) && heard.stderr.includes('ZeroDivisionError'), 'stderr tells line and error')
    must((await run('x = (')).stderr.includes('SyntaxError'), 'what is no Python is told')
    mustEqual((await run('import sys\nsys.exit(3)')).exitCode, 3, 'exit code')
  },
  async 'files lie in the working folder; new and changed ones come out, others do not'({ run }) {
    const files = sampleFiles()
    const heard = await run(
      [
        'print(open("kept.txt").read(), open("größe 1.csv").read())',
        'open("größe 1.csv", "a").write("!")',
        'left_open = open("made.bin", "wb")',
        'left_open.write(bytes(range(256)) * 5000)',
        'None',
      ].join('\n'),
      { files },
    )
    mustEqual(heard.stdout, 'of kept.txt of größe 1.csv\n', 'stdout')
    const outputs = new Map(heard.files.map(({ name, bytes }) => [name, bytes]))
    mustEqual([...outputs.keys()].toSorted(), ['größe 1.csv', 'made.bin'].toSorted(), 'names')
    mustEqual(new TextDecoder().decode(outputs.get('größe 1.csv')), 'of größe 1.csv!', 'changed file')
    const bytes = outputs.get('made.bin')
    must(bytes?.length === 1_280_000 && bytes.every((byte, at) => byte === at % 256), 'bytes are as written')
    const given = files.map((file) => new TextDecoder().decode(file.bytes))
    mustEqual(given, ['of kept.txt', 'of größe 1.csv'], 'the files given, afterwards')
  },
  async 'programs side by side have files of their own'({ run }) {
    const code = 'print(open("mine.txt").read())\nopen("mine.txt", "a").write("!")\nNone'
    const owners = ['ana', 'ben']
    const heard = await Promise.all(
      owners.map((owner) => run(code, { files: [{ name: 'mine.txt', bytes: encode(owner) }] })),
    )
    mustEqual(
      heard.map(({ stdout, files: outputs }) => [
        stdout,
        ...outputs.map(({ bytes }) => new TextDecoder().decode(bytes)),
      ]),
      owners.map((owner) => [`${owner}\n`, `${owner}!`]),
      'what they read and wrote',
    )
  },
  async 'files beyond the limit are left out and named'({ run }) {
    const heard = await run('open("a", "w").write("x" * 10)\nopen("b", "w").write("x" * 1000)\nNone', {
      maxFilesBytes: 100,
    })
    mustEqual(
      heard.files.map(({ name }) => name),
      ['a'],
      'files',
    )
    mustEqual(heard.droppedFiles, ['b'], 'dropped files')
  },
  async 'a program that does not end is ended at its limit, and holds up no other'({ run }) {
    const [endless, other] = await Promise.all([
      run('print("begun")\nwhile True:\n  try:\n    while True: pass\n  except BaseException: pass', {
        timeoutMs: 2_000,
      }),
      run('print("other")'),
    ])
    mustEqual([endless.timedOut, endless.exitCode, endless.stdout], [true, null, 'begun\n'], 'endless program')
    must(endless.error !== null, 'the reason is told')
    mustEqual([other.exitCode, other.stdout], [0, 'other\n'], 'other program')
  },
  async 'a program that asks for ten gigabytes fails, and the next one runs'({ run }) {
    const heard = await run('hoard = []\nwhile len(hoard) < 1000: hoard.append(bytearray(10_000_000))\nprint("got it")')
    must(heard.exitCode !== 0 && !heard.stdout.includes('got it'), 'the memory is not given')
    must(heard.error !== null || heard.stderr.includes('MemoryError'), 'the reason is told')
    mustEqual((await run('print(1)')).stdout, '1\n', 'next program')
  },
  async 'output beyond the limit is dropped, and the program goes on'({ run }) {
    const heard = await run('print("x" * 5000)\nopen("end", "w").write("reached")\nNone', { maxOutputBytes: 1_000 })
    mustEqual([heard.stdout, heard.isOutputCut, heard.exitCode], ['x'.repeat(1_000), true, 0], 'outcome')
    mustEqual(heard.files.length, 1, 'files')
  },
  async 'an abort ends a program at once, with the reason of the signal'({ runner }) {
    const stop = new AbortController()
    const reason = new Error('stopped')
    const stopOnOutput = { signal: stop.signal, onOutput: () => stop.abort(reason) }
    const ways: CodeRun[] = [
      { code: 'print("begun")\nwhile True: pass', ...stopOnOutput },
      { code: 'print(1)', signal: AbortSignal.abort(reason) },
    ]
    for (const way of ways) {
      const thrown = await rejectionOf(runner.run(way))
      must(thrown === reason, 'it rejects with the reason')
    }
  },
  async 'a program sees nothing of the run before it'({ run }) {
    const first =
      'import sys, json\nfor f in ("own.txt", "/tmp/own.txt"): open(f, "w").write("secret")\njson.own = "secret"\nown = 1\nNone'
    mustEqual((await run(first)).exitCode, 0, 'exit code')
    const heard = await run(
      'import json, os\nprint(os.listdir("."), os.path.exists("/tmp/own.txt"), hasattr(json, "own"), "own" in globals())',
    )
    mustEqual(heard.stdout, '[] False False False\n', 'what is left')
  },
  async 'a program reaches no file, environment, process or network of the host'({ run }) {
    const heard = await run(
      [
        'def attempt(code):',
        '  try: exec(code)',
        '  except Exception: return',
        '  print("succeeded:", code)',
        `for code in ${JSON.stringify(attempts)}: attempt(code)`,
        'print("tried")',
      ].join('\n'),
    )
    mustEqual([heard.stdout, heard.error], ['tried\n', null], 'what succeeded')
  },
}
