/**
 * Runs `npm start` as a newcomer would, on an empty data folder and a free port, and pastes the printed curl lines
 * into a shell. A check and not a test, since it runs npm itself.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const data = mkdtempSync(join(tmpdir(), 'inlay-start-'))

interface Started {
  output: string
  milliseconds: number
  stop(): Promise<number | null>
}

async function start(): Promise<Started> {
  const began = Date.now()
  // A separate process group, so that npm and its server end together.
  const child = spawn('npm', ['start'], {
    env: { ...process.env, PORT: '0', INLAY_DATA: data },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const stop = (): Promise<number | null> => {
    process.kill(-child.pid!, 'SIGTERM')
    return ended
  }
  const deadline = Date.now() + 300_000
  // The third curl line is the last thing a newcomer needs.
  while ((output.match(/^\s*curl .+$/gm) ?? []).length < 3) {
    if (child.exitCode !== null || Date.now() > deadline) {
      if (child.exitCode === null) await stop()
      throw new Error(`npm start printed no three curl lines:\n${output}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { output, milliseconds: Date.now() - began, stop }
}

const curlsOf = (output: string): string[] => (output.match(/^\s*curl .+$/gm) ?? []).map((line) => line.trim())

function paste(line: string): string {
  const done = spawnSync('bash', ['-c', line.replace(/^curl /, 'curl --fail-with-body --max-time 180 -sS ')], {
    encoding: 'utf8',
  })
  if (done.status !== 0) throw new Error(`pasted, this failed: ${line}\n${done.stdout}\n${done.stderr}`)
  return done.stdout
}

function expectTrue(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

try {
  const first = await start()
  try {
    const [streamed, whole, ingest] = curlsOf(first.output) as [string, string, string]
    const accepted = JSON.parse(paste(ingest)) as { document_id: string; already_existed: boolean }
    expectTrue(
      accepted.document_id !== '' && accepted.already_existed === false,
      'the ingest line did not create a document',
    )
    const stream = paste(streamed)
    expectTrue(/^data: \{.*"stop"/m.test(stream), `the streamed line did not end with stop:\n${stream}`)
    const answer = JSON.parse(paste(whole)) as { answer: string; citation_info: unknown[]; error_msg: string | null }
    expectTrue(
      answer.error_msg === null && answer.citation_info.length > 0,
      `the whole answer cites nothing: ${JSON.stringify(answer)}`,
    )
    const address = /https?:\/\/[\w.:[\]]+/.exec(first.output)?.[0] ?? ''
    const page = await fetch(address)
    expectTrue(page.ok && (await page.text()).includes('<script'), `the page at ${address} is not there`)
    console.log(`  first start: answerable after ${first.milliseconds} ms; the three lines work`)
  } finally {
    await first.stop()
  }
  const second = await start()
  const kept = curlsOf(second.output)[2] as string
  try {
    const again = JSON.parse(paste(kept)) as { already_existed: boolean }
    expectTrue(again.already_existed, 'the second start forgot a document')
    expectTrue(
      kept.includes(/Bearer \S+/.exec(curlsOf(first.output)[2] as string)![0].slice(0, 20)),
      'the second start made another key',
    )
    console.log(`  second start: after ${second.milliseconds} ms, with everything kept`)
  } finally {
    await second.stop()
  }
} finally {
  rmSync(data, { recursive: true, force: true, maxRetries: 10 })
}
